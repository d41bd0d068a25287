"""Fields of every kind, with and without an authority list, are compared as docs/starting/spreadsheet.md says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.tasks.base import Answer
from histeval.tasks.description import KINDS, AuthorityEntry, Context, Description, Field
from histeval.tasks.identifiers import SCHEMES, identifier
from histeval.tasks.letters import LettersTask
from histeval.tasks.truth import LetterTruth
from support import examples

RUI = AuthorityEntry("Braga, Rui", ("R. Braga", "Rui"), {"GND": "100000003", "VIAF": "https://viaf.org/viaf/24602065"})
OTHER = AuthorityEntry("Sá, Inês", (), {"local": "100000003x"})


def counts(kind: str, truth: list[str], found: object, protocol: str, authority: bool) -> tuple[int, int, int]:
    field = Field("f", kind, "list" if authority else None, True)
    context = Context(Description("letters", "x", fields=(field,)), {"list": (RUI, OTHER)})
    task = LettersTask()
    scorer = task.scorer(context, task.protocol(protocol))
    reading = scorer.read(Answer("1", record={"f": found}))
    score = scorer.score(LetterTruth({"f": tuple(truth)}), reading)
    assert score is not None
    tp, fp, fn = score.counts.tolist()
    return tp, fp, fn


HIT, MISS, NONE = (1, 0, 0), (0, 1, 1), (0, 0, 1)


@pytest.mark.parametrize(
    ("kind", "truth", "found", "documented", "corrected"),
    [
        ("number", "12", "12.0", HIT, HIT),
        ("number", "12", 12, HIT, HIT),
        ("number", "12", [12.0], HIT, HIT),
        ("number", "12", " 012 ", HIT, HIT),
        ("number", "12,5", "12.5", HIT, HIT),
        ("number", "1,200", "1.2", MISS, MISS),
        ("number", "12", "13", MISS, MISS),
        ("number", "12", "twelve", MISS, MISS),
        ("number", "0", "-0", HIT, HIT),
        ("text", "Betreff", "Betreff ", HIT, HIT),
        ("text", "<b>", "b", MISS, MISS),
        ("text", "A|B", "A|B", HIT, HIT),
        ("date", "1890-03-04", "4. März 1890", MISS, HIT),
        ("date", "1890-03-04", "1890-03-05", MISS, MISS),
        ("date", "1890-03", "1890-03", HIT, HIT),
        ("person", "Braga, Rui", "rui BRAGA", MISS, HIT),
        ("place", "Porto", "Porto", HIT, HIT),
        ("place", "Porto", "porto", MISS, HIT),
        ("organisation", "Harbour Office", None, NONE, NONE),
        ("list", "Aurora", ["Aurora", "Aurora"], HIT, HIT),
    ],
)
def test_each_kind(
    kind: str, truth: str, found: object, documented: tuple[int, ...], corrected: tuple[int, ...]
) -> None:
    assert counts(kind, [truth], found, "documented", False) == documented
    assert counts(kind, [truth], found, "corrected", False) == corrected


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "date"])
def test_any_field_may_have_an_authority_list(kind: str) -> None:
    assert counts(kind, ["Braga, Rui"], ["R. Braga"], "documented", True) == HIT
    assert counts(kind, ["Braga, Rui"], ["R. Braga"], "documented", False) == MISS


@pytest.mark.parametrize("form", ["https://d-nb.info/gnd/100000003", "GND 100000003", "viaf:24602065"])
def test_an_identifier_is_a_form_of_the_name_under_corrected_only(form: str) -> None:
    assert counts("person", ["Braga, Rui"], [form], "corrected", True) == HIT
    assert counts("person", ["Braga, Rui"], [form], "documented", True) == MISS
    assert counts("person", ["Braga, Rui"], [form], "published", True) == MISS
    assert counts("person", [form], ["Rui"], "corrected", True) == HIT
    assert counts("person", ["Sá, Inês"], [form], "corrected", True) == MISS
    # A name and the identifier of the same person are one answer.
    assert counts("person", ["Braga, Rui"], [form, "Rui Braga"], "corrected", True) == HIT


def test_a_vast_exponent_costs_nothing() -> None:
    assert counts("number", ["1"], ["1e999999999"], "documented", False) == MISS
    assert counts("number", ["1e99999"], ["1e99999"], "documented", False) == HIT


@pytest.mark.parametrize(
    ("text", "scheme", "expected"),
    [
        ("http://d-nb.info/gnd/4005728-8", "", ("GND", "4005728-8")),
        ("(DE-588)118540238", "", ("GND", "118540238")),
        ("https://viaf.org/en/viaf/24602065/#Goethe", "", ("VIAF", "24602065")),
        ("https://www.wikidata.org/wiki/q42", "", ("Wikidata", "Q42")),
        ("https://www.geonames.org/2735943/porto.html", "", ("GeoNames", "2735943")),
        ("0000-0002-1825-0097", "orcid", ("ORCID", "0000-0002-1825-0097")),
        ("Q42", "Wikidata", ("Wikidata", "Q42")),
        ("Q42", "", None),
        ("1926", "", None),
        ("#p12", "GND", None),
        ("Gnadenthal 12", "", None),
        ("", "GND", None),
    ],
)
def test_identifiers(text: str, scheme: str, expected: tuple[str, str] | None) -> None:
    assert identifier(text, scheme) == expected


@settings(max_examples=examples(200))
@given(st.text(max_size=30), st.sampled_from(("", *SCHEMES)))
def test_an_identifier_is_the_same_in_every_spelling(text: str, scheme: str) -> None:
    found = identifier(text, scheme)
    if found is not None:
        assert identifier(found[1], found[0]) == found
        assert identifier(f" {text} ", scheme) == found
