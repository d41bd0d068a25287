"""The ground truth of one document, by task. (That of a directory entry is `histeval.entities.spans.Entry`.)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LetterTruth:
    """Values of each field as they stand in the ground truth, markers kept: `<Name>` is inferred from function and
    date, `<<Name>>` from the correspondence; `None` as the only value says that the letter has none.

    `signed` is None where the ground truth does not say. A field absent from `fields` was not recorded at all.
    """

    fields: Mapping[str, tuple[str, ...]]
    signed: bool | None = None


@dataclass(frozen=True, slots=True)
class PageTruth:
    """The folios of a page: (reference such as `[3r]`, {"folio": ..., "text": ..., "addition1": ...}) in file order.

    Keys are kept as they stand in the ground truth, since an addition counts where its key exists.
    """

    folios: tuple[tuple[str, Mapping[str, str]], ...]
