"""dataset.toml: every mistake, with its line."""

from __future__ import annotations

from typing import Any

import pytest

from histeval.datasets.settings import examine_settings, read_settings
from histeval.errors import DatasetError

GOOD = """
task = "directories"
name = "bakers"
title = "Bakers"
languages = ["fr"]
published = 2026-01-31
profile = "folded"
prompt_file = "prompt.txt"
unit = "page"
[[types]]
name = "PER"
children = ["TITLE-H"]
flat = "PERSON"
[[types]]
name = "TITLE-H"
root = false
flat = ""
flat_in = { PER = "TITLE-H" }
[extra]
anything = 1
"""


def test_what_is_read(make: Any) -> None:
    settings = read_settings(make({"dataset.toml": GOOD, "prompt.txt": "Read."}))
    assert settings is not None
    description = settings.description
    assert (description.published, description.unit, description.prompt) == ("2026-01-31", "page", "Read.")
    assert (description.profile, description.extra) == ("folded", {"anything": 1})
    person, title = description.types
    assert (person.children, person.root, person.flat) == (("TITLE-H",), True, "PERSON")
    assert (title.root, title.flat, title.flat_in) == (False, None, {"PER": "TITLE-H"})
    assert read_settings(make({"a": b""}, name="none")) is None


def test_headline_fields(make: Any) -> None:
    """Marked ones; else the published ones among them; else all."""

    def headline(fields: str, name: str) -> list[str]:
        folder = make({"dataset.toml": f'task = "letters"\n{fields}'}, name=name)
        settings = read_settings(folder)
        assert settings is not None
        return [field.name for field in settings.description.fields if field.headline]

    one, two = '[[fields]]\nname = "a"\n', '[[fields]]\nname = "send_date"\n'
    assert headline(one + "headline = true\n" + two, "1") == ["a"]
    assert headline(one + two, "2") == ["send_date"]
    assert headline(one, "3") == ["a"]
    assert headline("", "4") == ["send_date", "sender_persons", "receiver_persons"]


@pytest.mark.parametrize(
    ("text", "line", "item", "what"),
    [
        ("name = 'a'", None, "task", "says nowhere which task it is for"),
        ('task = "letters"\ntitel = "x"', 2, "titel", "there is no setting 'titel' here"),
        ('task = "letters"\ntitle = 3', 2, "title", "is not a text"),
        ('task = "letters"\nname = "a b/c"', 2, "name", "the name 'a b/c' has other signs"),
        ('task = "letters"\nlanguages = "de"', 2, "languages", "is not a list of texts"),
        ('task = "letters"\npublished = "May"', 2, "published", "'May' is no day"),
        ('task = "letters"\nimages = "../x"', 2, "images", "the name '../x' leads out of its folder"),
        ('task = "letters"\nprompt_file = "p.txt"', 2, "prompt_file", "p.txt cannot be read: there is no such file"),
        ('task = "letters"\nfields = 3', 2, "fields", "is not a list of tables"),
        ('task = "letters"\n[[fields]]\nname = "a b"', 3, "fields.1.name", "the name 'a b' is no field name"),
        ('task = "letters"\n[[fields]]\nname = "a"\nkind = "day"', 4, "fields.1.kind", "there is no kind 'day'"),
        ('task = "letters"\n[[fields]]\nname = "a"\nheadline = 1', 4, "fields.1.headline", "is neither true nor false"),
        (
            'task = "letters"\n[[fields]]\nname = "a"\n[[fields]]\nname = "a"',
            5,
            "fields.2.name",
            "the field a stands twice",
        ),
        (
            'task = "letters"\n[[fields]]\nname = "a"\nauthority = "ships"\n[authorities]\nx = "x.csv"',
            3,
            "fields.a",
            "there is no authority list 'ships'",
        ),
        ('task = "letters"\n[authorities]\nx = 3', 3, "authorities.x", "is not a file name"),
        ('task = "letters"\n[authorities]\nx = {}', 3, "authorities.x", "names no file"),
        ('task = "letters"\n[authorities]\nx = { file = "/etc/x" }', 3, "authorities.x", "leads out of its folder"),
        ('task = "directories"\n[[types]]\nname = "3"', 3, "types.1.name", "the name '3' is no type name"),
        ('task = "directories"\n[[types]]\nname = "A"\nchildren = ["B"]', 3, "types.A", "A names the type 'B'"),
        ('task = "directories"\n[[types]]\nname = "A"\nroot = false', 2, "types", "no type may stand at the root"),
        ('task = "letters"\n[truth]\nfiel = "a"', 3, "truth.fiel", "there is no setting 'fiel' here"),
        ('task = "letters"\nextra = 1', 2, "extra", "is not a table"),
    ],
)
def test_mistakes(make: Any, text: str, line: int | None, item: str, what: str) -> None:
    folder = make({"dataset.toml": text})
    faults = examine_settings(folder)[1]
    assert [(fault.line, fault.item) for fault in faults] == [(line, item)]
    assert what in faults[0].what
    with pytest.raises(DatasetError, match=r"dataset\.toml"):
        read_settings(folder)


def test_all_mistakes_at_once(make: Any) -> None:
    text = 'task = "letters"\ntitel = "x"\nlanguages = "de"\n[[fields]]\nnmae = "a"\n'
    assert len(examine_settings(make({"dataset.toml": text}))[1]) == 4


@pytest.mark.parametrize("text", ["task = ", "a = 1\na = 2", "a = " + "[" * 5000])
def test_no_toml(make: Any, text: str) -> None:
    with pytest.raises(DatasetError, match=r"dataset\.toml: is not TOML: "):
        read_settings(make({"dataset.toml": text}))
