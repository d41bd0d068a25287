"""Names, descriptions and answers that attack stay text, and nothing is written outside the folder of the site."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from overview_sites import ATTACK, MadeSite, addresses, hostile_inputs, make_site, snapshot

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0041]"
)
SAFE = re.compile(r"([a-z0-9_-][a-z0-9._-]*/)*[a-z0-9_-][a-z0-9._-]*")
LARGEST = 1_000_000
"""Bytes: no page or data file grows with a hostile answer beyond this."""


def test_nothing_is_written_outside_the_folder(hostile_site: MadeSite) -> None:
    around = hostile_site.out.parent
    assert sorted(file.name for file in around.iterdir()) == ["answers", "site"]
    assert (
        sorted(
            file.name
            for file in around.parent.iterdir()
            if "outside" in file.name and not file.name.startswith("test_")
        )
        == []
    )
    files = snapshot(hostile_site.out)
    assert len({name.casefold() for name in files}) == len(files)
    for name, (data, _) in files.items():
        assert SAFE.fullmatch(name), name
        assert ".." not in name
        assert len(Path(name).name) < 100
        assert len(data) < LARGEST or name.endswith((".png", ".jpg")), (name, len(data))


def test_every_run_and_document_has_a_page_of_its_own(hostile_site: MadeSite) -> None:
    for one in hostile_site.inputs:
        folder = hostile_site.folder(one.task.name)
        assert len([path for path in hostile_site.pages if path.startswith(f"{folder}runs/")]) == 6
        assert len([path for path in hostile_site.pages if path.startswith(f"{folder}documents/")]) == len(
            one.dataset.documents
        )


def test_pages_hold_no_element_or_address_of_the_data(hostile_site: MadeSite) -> None:
    allowed = {"tables.js", "document.js"}
    for path, tree in hostile_site.pages.items():
        for element in tree.iter():
            if not isinstance(element.tag, str):
                continue
            assert element.tag not in ("iframe", "object", "embed", "base", "b" * 2, "style"), path
            for name in element.attrib:
                assert not name.lower().startswith("on"), (path, name)
                assert name not in ("style", "srcdoc", "autofocus"), (path, name)
        for script in tree.xpath("//script"):
            source = script.get("src")
            assert source, path
            own = Path(path).with_suffix(".js").name
            assert Path(source).name in allowed | {own}, (path, source)
            assert not (script.text or "").strip(), path
        for attribute, address in addresses(tree):
            assert address == "data:," or not urlsplit(address).scheme, (path, attribute, address)
            assert address == "data:," or re.fullmatch(r"[a-z0-9._/#-]*", address), (path, attribute, address)


def test_control_and_direction_signs_are_visible_and_braces_stay(hostile_site: MadeSite) -> None:
    braces = 0
    for name, (data, _) in snapshot(hostile_site.out).items():
        if not name.endswith((".html", ".js", ".csv", ".md", ".tex", ".json", ".svg")) or name.startswith("assets/"):
            continue
        text = data.decode("utf-8")
        if name.endswith(".csv"):
            text = text.replace("\r\n", "\n")
        found = HIDDEN.search(text)
        assert found is None, (name, ascii(text[max(0, found.start() - 60) : found.start() + 20]) if found else "")
        assert "49$" not in text
        braces += "{{ 7*7 }}{% raw %}{# x #}" in text
    assert braces > 10  # nothing took them for a template


def test_data_scripts_are_plain_json(hostile_site: MadeSite) -> None:
    scripts = [file for file in hostile_site.out.rglob("*.js") if file.parent.name != "assets"]
    assert len(scripts) == sum(len(one.dataset.documents) for one in hostile_site.inputs)
    for file in scripts:
        text = file.read_text(encoding="ascii")
        match = re.fullmatch(r"window\.histeval = window\.histeval \|\| \{\};\nwindow\.histeval\.\w+ = (.*);\n", text)
        assert match is not None
        assert "<" not in text
        assert ">" not in text
        json.loads(match[1])


def test_tables_for_spreadsheets_run_nothing(hostile_site: MadeSite) -> None:
    files = list(hostile_site.out.rglob("*.csv"))
    assert files
    for file in files:
        for row in csv.reader(io.StringIO(file.read_bytes().decode("utf-8-sig"), newline="")):
            for cell in row:
                if not re.fullmatch(r"-?[\d.]+(e-?\d+)?", cell):
                    assert cell[:1] not in ("=", "+", "@", "-", "\t", "\r"), (file.name, cell[:60])


def test_a_drawing_holds_no_script(hostile_site: MadeSite) -> None:
    for file in hostile_site.out.rglob("*.svg"):
        text = file.read_text(encoding="utf-8")
        assert "<script" not in text.lower(), file.name
        assert not re.search(r"<[^>]*\son\w+\s*=", text), file.name
        assert not re.search(r"""(href|src)\s*=\s*["']?(javascript|https?):""", text), file.name


@pytest.mark.parametrize("wrong", ["a", 1, None, [], {"nested": {"run": "x"}}])
def test_facts_of_a_run_of_any_kind_are_shown_as_text(wrong: object, tmp_path: Path) -> None:
    from histeval.datasets import load_dataset
    from histeval.datasets.bundled import bundled
    from histeval.overview.build import Input
    from histeval.tasks import get_task
    from overview_sites import answers_of, run_folder

    names = (
        "system",
        "model",
        "provider",
        "start",
        "date",
        "settings",
        "prompt",
        "versions",
        "dataset",
        "asked",
        "usage",
    )
    folder = run_folder(tmp_path / "run", dict.fromkeys(names, wrong), answers_of("manuscripts", "careful"))
    dataset = load_dataset("manuscripts", bundled("manuscripts"))
    site = make_site(tmp_path / "site", Input(get_task("manuscripts"), dataset, [folder]))
    assert any(path.startswith("runs/") for path in site.pages)


def test_the_hostile_site_is_rebuilt_without_a_change(hostile_site: MadeSite, tmp_path: Path) -> None:
    from histeval.overview.build import overview

    again = overview(hostile_site.inputs, hostile_site.out, title=ATTACK)
    assert again.written == ()
    assert again.removed == ()


def test_the_same_attacks_are_made_for_every_task(hostile_site: MadeSite) -> None:
    """Else the tests above would read nothing."""
    assert {one.task.name for one in hostile_site.inputs} == {"letters", "manuscripts", "directories"}
    assert {one.dataset.name[:3] for one in hostile_inputs(hostile_site.out.parent / "answers")} == {"../"}
