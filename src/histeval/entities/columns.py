"""Tags from a column of lists of text, as a Parquet file holds them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from histeval.entities.chunks import Encoded
from histeval.errors import UsageError, printable

if TYPE_CHECKING:
    from polars import Series


def encode_column(column: Series) -> Encoded:
    """Encode a polars column of lists of labels, one list a sequence, without making Python texts of them.

    A column of type Enum, whose labels are numbered already, is the fastest.

    Raises UsageError where the column holds anything else. Nulls count as empty lists and as the label `O`.

    >>> import polars
    >>> encode_column(polars.Series([["B-PER", "I-PER"], [], ["O"]])).lengths.tolist()
    [2, 0, 1]
    """
    import polars as pl

    inner = column.dtype.inner if isinstance(column.dtype, pl.List) else None
    if not (inner in (pl.String, pl.Categorical) or isinstance(inner, pl.Enum)):
        raise UsageError(f"the column {column.name!r} does not hold lists of labels but {column.dtype}")
    lengths = column.list.len().fill_null(0).to_numpy().astype(np.int64)
    flat = pl.Series([], dtype=pl.String)
    if lengths.any():  # an empty list would explode to a null; where there is none, the column is not copied
        flat = (column if lengths.all() else column.filter(pl.Series(lengths > 0))).explode()
    if isinstance(flat.dtype, pl.Enum):
        labels = flat.dtype.categories.to_list()
    else:
        flat = flat.cast(pl.String)
        labels = flat.unique().drop_nulls().to_list()
        flat = flat.cast(pl.Enum(labels))
    codes = flat.to_physical().fill_null(len(labels)) if flat.null_count() else flat.to_physical()
    return Encoded.of_codes(codes.to_numpy(), lengths, [*labels, "O"])


def encode_parquet(file: Path | str, *columns: str) -> list[Encoded]:
    """The columns of a Parquet file, encoded, in the order named; each is read and encoded in a thread of its own.

    Raises UsageError where the file cannot be read, lacks a column, or a column holds anything but lists of labels.

    >>> import polars, tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
    ...     polars.DataFrame({"gold": [["B-PER"]], "predicted": [["O"]]}).write_parquet(file.name)
    ...     [encoded.listed() for encoded in encode_parquet(file.name, "gold", "predicted")]
    [[Chunk(sequence=0, type='PER', start=0, end=1, malformed=False)], []]
    """
    import polars as pl

    def read(column: str) -> Encoded:
        try:
            table = pl.read_parquet(file, columns=[column])
        except pl.exceptions.ColumnNotFoundError:
            raise UsageError(f"{file} has no column {column!r}") from None
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as fault:
            # A damaged file makes polars panic, which is no Exception.
            raise UsageError(f"{file} cannot be read as Parquet: {printable(str(fault), 200)}") from None
        return encode_column(table[column])

    with ThreadPoolExecutor(max(1, len(columns))) as threads:
        return list(threads.map(read, columns))
