"""Identifiers of authority lists, however a file gives them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from histeval import load_dataset, score
from histeval.datasets.authorities import read_authority

JSON: list[dict[str, Any]] = [
    {"name": "A", "identifier": [{"@type": "PropertyValue", "propertyID": "GND", "value": "118540238"}]},
    {"name": "B", "identifier": {"VIAF": "24602065"}, "sameAs": "https://www.wikidata.org/wiki/Q42"},
    {"name": "C", "@id": "https://d-nb.info/gnd/100000003", "sameAs": ["https://example.org/c", 3]},
]


def test_json(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(JSON), "utf-8")
    entries, _ = read_authority(tmp_path / "a.json")
    assert [dict(entry.identifiers) for entry in entries] == [
        {"GND": "118540238"}, {"VIAF": "24602065", "Wikidata": "Q42"}, {"GND": "100000003"}
    ]  # fmt: skip


def test_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,gnd,Wikidata,note\nA,118540238,Q42,118540238\nB,,no,\n", "utf-8")
    entries, _ = read_authority(tmp_path / "a.csv")
    assert [dict(entry.identifiers) for entry in entries] == [{"GND": "118540238", "Wikidata": "Q42"}, {}]


@pytest.mark.parametrize("file", ["ships.csv", "ships.json"])
def test_a_field_of_any_name_takes_a_list_of_any_kind(tmp_path: Path, file: str) -> None:
    (tmp_path / "dataset.toml").write_text(
        f'task = "letters"\n[truth]\nid = "nr"\n[authorities]\nvessels = "{file}"\n'
        '[[fields]]\nname = "vessel"\nkind = "list"\nauthority = "vessels"\n',
        "utf-8",
    )
    (tmp_path / "letters.csv").write_text("nr,vessel\n1,Aurora\n", "utf-8")
    (tmp_path / "ships.csv").write_text("name,alternateName,wikidata\nAurora,SS Aurora,Q7\n", "utf-8")
    (tmp_path / "ships.json").write_text(
        json.dumps([{"name": "Aurora", "alternateName": "SS Aurora", "sameAs": "https://www.wikidata.org/entity/Q7"}]),
        "utf-8",
    )
    data = load_dataset("letters", tmp_path)
    for answer, protocol, expected in (
        ("SS Aurora", "documented", 1), ("wd:Q7", "documented", 0), ("wd:Q7", "corrected", 1)
    ):  # fmt: skip
        result = score("letters", data, {"1": {"vessel": [answer]}}, protocol=protocol).as_json()
        assert result["counts"]["vessel_tp"] == expected, (answer, protocol)
