"""Prices reproduce the recorded costs of published runs; an unknown price is unknown."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from histeval.errors import InputError
from histeval.systems.prices import Price, PriceTable, load_prices
from support import DATA, needs_data


@pytest.mark.data
@needs_data
def test_the_bundled_prices_give_the_recorded_costs() -> None:
    table = load_prices()
    checked = set()
    with (DATA / "rise" / "published_leaderboard.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if not row["input_tokens"]:
                continue
            price = table.find(row["model"])
            assert price is not None, row["model"]
            usage = {"input_tokens": int(row["input_tokens"]), "output_tokens": int(row["output_tokens"])}
            assert price.cost(usage) == pytest.approx(float(row["cost_usd"]), abs=0.00006)
            checked.add(price.model)
    assert len(checked) == len(table) == 13


def test_names_with_provider_and_version_are_found() -> None:
    table = load_prices()
    for name in ("gpt-5", "openai/gpt-5", "openai/gpt-5-2025-08-07", "openrouter/openai/gpt-5", "GPT-5"):
        found = table.find(name)
        assert found is not None
        assert found.model == "gpt-5"
    for name in ("openai/gpt-6", "gpt-5-turbo", "mini", ""):
        assert table.find(name) is None
    assert table.find("unheard-of", "gpt-5") is not None


def test_cached_and_batched_tokens() -> None:
    price = Price("m", 2.0, 8.0, cached_input=0.5, cache_write=2.5, batch=0.5)
    usage = {"input_tokens": 1000, "cached_tokens": 400, "cache_write_tokens": 100, "output_tokens": 10}
    assert price.cost(usage) == pytest.approx((500 * 2 + 400 * 0.5 + 100 * 2.5 + 10 * 8) / 1e6)
    assert price.cost(usage, batch=True) == pytest.approx((500 * 2 + 400 * 0.5 + 100 * 2.5 + 10 * 8) / 2e6)
    assert Price("m", 2.0, 8.0).cost(usage) == pytest.approx((1000 * 2 + 80) / 1e6)
    assert Price("m", 2.0, 8.0).cost(usage, batch=True) is None
    assert price.cost({}) is None


def test_a_file_of_prices_goes_first(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[[price]]\nmodel = "gpt-5"\ninput = 1\noutput = 2\ndate = "2027-01-01"\nsource = "contract"\n')
    found = load_prices(file).find("openai/gpt-5")
    assert found is not None
    assert (found.input, found.output, found.date, found.source) == (1.0, 2.0, "2027-01-01", "contract")
    assert load_prices(file).find("o3") is not None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("price = 3", "holds no prices"),
        ('[[price]]\nmodel = "a"\ninput = "cheap"\noutput = 1', "input"),
        ('[[price]]\nmodel = "a"\ninput = 1', "output"),
        ("[[price]]\ninput = 1\noutput = 1", "no model"),
        ('[[price]]\nmodel = "a"\ninput = -1\noutput = 1', "input"),
        ('[[price]]\nmodel = "a"\ninput = nan\noutput = 1', "input"),
        ("[[price", "not TOML"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, text: str, word: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=word) as caught:
        load_prices(file)
    assert "prices.toml" in str(caught.value)
    with pytest.raises(InputError, match="cannot be read"):
        load_prices(tmp_path / "absent.toml")


def test_the_first_of_two_prices_counts() -> None:
    table = PriceTable([Price("a", 1, 1), Price("A", 2, 2)])
    assert len(table) == 1
    found = table.find("a")
    assert found is not None
    assert found.input == 1
