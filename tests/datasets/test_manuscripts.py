"""Manuscript pages."""

from __future__ import annotations

from typing import Any

import pytest

from histeval.datasets import load_dataset
from support import DATA, needs_data

PUBLISHED = DATA / "rise" / "benchmarks" / "medieval_manuscripts"


@needs_data
@pytest.mark.data
def test_the_published_pages() -> None:
    """Folio, lines, characters and additions of each page, as the specification of the benchmark lists them."""
    dataset = load_dataset("manuscripts", PUBLISHED)
    found = []
    for page in dataset.documents.values():
        ((reference, folio),) = page.truth.folios
        additions = [len(text) for key, text in folio.items() if key.startswith("addition")]
        found.append((reference, folio["folio"], folio["text"].count("\n") + 1, len(folio["text"]), additions))
    assert found == [
        ("[3r]", "3", 17, 493, [0]),
        ("[4v]", "", 17, 476, [19]),
        ("[9v]", "", 18, 462, [17, 19, 6]),
        ("[18r]", "18", 18, 432, [26]),
        ("[23v]", "", 17, 473, [0]),
        ("[52v]", "", 17, 435, [0]),
        ("[62v]", "", 20, 710, [36]),
        ("[69r]", "", 20, 596, [30]),
        ("[70v]", "", 19, 607, [279]),
        ("[73r]", "73", 17, 507, [0]),
        ("[90r]", "90", 14, 274, [0]),
        ("[93r]", "93", 16, 318, [0]),
    ]
    assert list(dataset.documents) == [f"image_{number}" for number in range(1, 13)]
    assert all(len(page.images) == 1 and page.unit == page.id for page in dataset.documents.values())
    assert dataset.documents["image_2"].attributes == {
        "page": "2",
        "folio": "4v",
        "side": "verso",
        "additions": "true",
        "language": "gmh",
    }
    assert (dataset.description.published, dataset.description.unit) == ("2025-10-24", "page")


def test_keys_are_kept_as_they_stand(make: Any) -> None:
    page = {"[1r]": [{"folio": 1, "text": None, "addition1": "", "addition3": "x"}], "[1v]": [{"text": "y"}]}
    folios = (
        load_dataset("manuscripts", make("manuscripts", {"ground_truths/image_1.json": page}))
        .documents["image_1"]
        .truth.folios
    )
    assert folios == (("[1r]", {"folio": "1", "text": "", "addition1": "", "addition3": "x"}), ("[1v]", {"text": "y"}))


def test_pages_as_lines(make: Any) -> None:
    settings = 'task = "manuscripts"\nname = "a"\nattributes = ["hand"]\nunit = "hand"\n[truth]\nfile = "truth.jsonl"\n'
    lines = '{"document": "b10", "hand": "A", "folios": [{"folio": "2", "text": "x"}]}\n'
    lines += '{"document": "b9", "[3r]": [{"text": "y"}]}\n'
    dataset = load_dataset("manuscripts", make({"dataset.toml": settings, "truth.jsonl": lines}))
    assert list(dataset.documents) == ["b9", "b10"]
    assert dataset.documents["b10"].unit == "A"
    assert dataset.documents["b10"].truth.folios == (("[2]", {"folio": "2", "text": "x"}),)
