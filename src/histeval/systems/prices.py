"""What tokens cost: a dated price table. An unknown price stays unknown and is never taken for 0."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from histeval.errors import InputError

# A version at the end of a model's name: a date, "latest" or "preview-09-2025" without its date is another model.
_VERSION = re.compile(r"(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|latest))$")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, with the day and the source of the figure.

    `cached_input` and `cache_write` are None where not stated; tokens of that kind then cost as much as others.
    `batch` is the share paid through a batch interface, None where not stated.
    """

    model: str
    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    batch: float | None = None
    date: str = ""
    source: str = ""

    def cost(self, usage: Mapping[str, int], *, batch: bool = False) -> float | None:
        """Cost of one answer in US dollars; None where the usage, or the price by batch, is not known.

        `usage`: `input_tokens` (all of them, cached ones included), `cached_tokens`, `cache_write_tokens`,
        `output_tokens` (reasoning included).

        >>> Price("m", 2.0, 8.0).cost({"input_tokens": 123366, "output_tokens": 35795})
        0.533092
        """
        if "input_tokens" not in usage or "output_tokens" not in usage or (batch and self.batch is None):
            return None
        cached, written = usage.get("cached_tokens", 0), usage.get("cache_write_tokens", 0)
        plain = max(0, usage["input_tokens"] - cached - written)
        millionths = (
            plain * self.input
            + cached * (self.input if self.cached_input is None else self.cached_input)
            + written * (self.input if self.cache_write is None else self.cache_write)
            + usage["output_tokens"] * self.output
        )
        return millionths / 1e6 * (self.batch if batch and self.batch is not None else 1.0)

    def describe(self) -> dict[str, Any]:
        """The price as run.json keeps it."""
        stated = {"cached_input": self.cached_input, "cache_write": self.cache_write, "batch": self.batch}
        return {
            "model": self.model, "input": self.input, "output": self.output,
            **{key: value for key, value in stated.items() if value is not None},
            "date": self.date, "source": self.source,
        }  # fmt: skip


class PriceTable:
    """Prices by model; those of `--prices` go before the bundled ones."""

    def __init__(self, prices: Iterable[Price]) -> None:
        self._prices: dict[str, Price] = {}
        for price in prices:
            self._prices.setdefault(price.model.lower(), price)

    def __len__(self) -> int:
        return len(self._prices)

    def find(self, *names: str) -> Price | None:
        """The price of a model by any of its names (`openai/gpt-5`, the id as returned, ...); None if unknown.

        The whole name counts first, then without provider, then without a version at its end.

        >>> table = PriceTable([Price("gpt-4.1-mini", 0.4, 1.6)])
        >>> table.find("openai/gpt-4.1-mini-2025-04-14").input, table.find("openai/gpt-4.1")
        (0.4, None)
        """
        for name in names:
            key = name.lower()
            parts = key.split("/")
            for candidate in ["/".join(parts[start:]) for start in range(len(parts))]:
                for form in (candidate, _VERSION.sub("", candidate)):
                    if form in self._prices:
                        return self._prices[form]
        return None


def load_prices(file: Path | str | None = None) -> PriceTable:
    """The bundled prices, with those of `file` before them; raises InputError for a file that is no price table."""
    own = _read(Path(file).read_bytes, str(file)) if file is not None else []
    return PriceTable([*own, *_bundled()])


@lru_cache(maxsize=1)
def _bundled() -> tuple[Price, ...]:
    place = files("histeval.systems") / "data" / "prices.toml"
    return tuple(_read(place.read_bytes, "prices.toml"))


def _read(read: Any, name: str) -> list[Price]:
    form = "Each price is a [[price]] with model, input and output in US dollars per million tokens, and date"
    try:
        table = tomllib.loads(read().decode("utf-8"))
    except OSError as fault:
        raise InputError(f"cannot be read: {fault.strerror or fault}", file=name) from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise InputError(f"is not TOML: {fault}", file=name) from fault
    entries = table.get("price")
    if not isinstance(entries, list):
        raise InputError("holds no prices", file=name, remedy=form)
    prices = []
    for number, entry in enumerate(entries, start=1):
        item = f"price {number}"
        if not isinstance(entry, dict) or not isinstance(entry.get("model"), str) or not entry["model"]:
            raise InputError("has no model", file=name, item=item, remedy=form)
        figures: dict[str, float | None] = {}
        for key in ("input", "output", "cached_input", "cache_write", "batch"):
            value = entry.get(key)
            if value is None and key not in ("input", "output"):
                figures[key] = None
            elif isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e6:
                figures[key] = float(value)
            else:
                raise InputError(
                    f"has no number under {key!r}", file=name, item=f"{item} ({entry['model']})", remedy=form
                )
        prices.append(
            Price(
                entry["model"],
                figures["input"] or 0.0,
                figures["output"] or 0.0,
                figures["cached_input"],
                figures["cache_write"],
                figures["batch"],
                str(entry.get("date", "")),
                str(entry.get("source", table.get("source", ""))),
            )
        )
    return prices
