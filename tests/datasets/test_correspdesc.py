"""TEI correspDesc and CMIF: letters, and authority lists of the names with identifiers."""

from __future__ import annotations

from pathlib import Path

import pytest

from format_sources import read
from histeval import load_dataset, score
from histeval.datasets import check
from histeval.datasets.formats.records import AuthorityList, LetterDocument
from histeval.datasets.transfer import import_dataset
from histeval.errors import DatasetError

TEI = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc/><profileDesc>{}</profileDesc></teiHeader>{}</TEI>'
CMIF = TEI.format(
    """
<correspDesc ref="https://example.org/letters/L001" source="#edition-a">
  <correspAction type="sent">
    <persName ref="https://d-nb.info/gnd/118540238">Inês Sá</persName>
    <placeName ref="https://www.geonames.org/2735943">Porto</placeName>
    <date when="1907-03-04">4 March 1907</date>
  </correspAction>
  <correspAction type="received">
    <persName ref="http://viaf.org/viaf/24602065">Petr
       Novák</persName>
    <orgName>Harbour Office</orgName>
  </correspAction>
  <note><ref type="cmif:mentionsPerson" target="https://d-nb.info/gnd/100000003">R. Braga</ref></note>
</correspDesc>
<correspDesc ref="https://example.org/letters/L002">
  <correspAction type="sent">
    <persName ref="http://viaf.org/viaf/24602065">Novák, Petr</persName>
    <date from="1907-05-01" to="1907-05-03"/>
  </correspAction>
  <correspAction type="received"><persName ref="https://d-nb.info/gnd/118540238">Sá, Inês</persName></correspAction>
  <correspAction type="redirected"><persName>Someone</persName></correspAction>
</correspDesc>""",
    "<text><body><p/></body></text>",
)


def test_cmif_gives_letters_and_a_list_of_persons(tmp_path: Path) -> None:
    (tmp_path / "index.xml").write_text(CMIF, encoding="utf-8")
    report = import_dataset("letters", [tmp_path / "index.xml"], tmp_path / "d")
    found = load_dataset("letters", tmp_path / "d")
    assert {name: dict(document.truth.fields) for name, document in found.documents.items()} == {
        "L001": {
            "send_date": ("1907-03-04",), "sender_persons": ("Inês Sá",), "receiver_persons": ("Petr Novák",),
            "receiver_organization": ("Harbour Office",), "mentioned_persons": ("R. Braga",),
            "sender_place": ("Porto",),
        },
        # The same identifier is the same person, by the first name in the file.
        "L002": {
            "send_date": ("1907-05-01/1907-05-03",), "sender_persons": ("Petr Novák",), "receiver_persons": ("Inês Sá",)
        },
    }  # fmt: skip
    persons = {entry.name: entry for entry in found.authorities["persons"]}
    assert persons["Petr Novák"].alternate_names == ("Novák, Petr",)
    assert persons["Inês Sá"].identifiers == {"GND": "118540238"}
    assert found.authorities["places"][0].identifiers == {"GeoNames": "2735943"}
    assert report.left_out == {"correspAction of type 'redirected'": ["L002"]}
    assert report.repaired == {"dates that are periods, read as first/last day": ["L002"]}
    assert {field.name for field in found.description.fields if field.headline} == {
        "send_date", "sender_persons", "receiver_persons"
    }  # fmt: skip
    answer = {"L001": {"sender_persons": ["Sá, Inês"], "receiver_persons": ["Novák, Petr"], "send_date": "1907-03-04"}}
    counts = score("letters", found, answer, documents=["L001"]).as_json()["counts"]
    assert (counts["sender_persons_tp"], counts["receiver_persons_tp"], counts["send_date_tp"]) == (1, 1, 1)


def test_a_folder_of_letters_is_named_by_its_files(tmp_path: Path) -> None:
    for name in ("b-2", "b-10"):
        action = f'<correspAction type="sent"><persName>{name}</persName><date when="1890"/></correspAction>'
        text = TEI.format(f"<correspDesc ref='x'>{action}</correspDesc>", "<text/>")
        (tmp_path / f"{name}.xml").write_text(text, encoding="utf-8")
    (tmp_path / "c.xml").write_text(TEI.format("", ""), encoding="utf-8")
    report = import_dataset("letters", [tmp_path / f"{n}.xml" for n in ("b-2", "b-10", "c")], tmp_path / "d")
    assert list(load_dataset("letters", tmp_path / "d").documents) == ["b-2", "b-10"]
    assert report.left_out == {"TEI files without a correspDesc": ["c.xml"]}
    assert not [fault for fault in check("letters", tmp_path / "d") if fault.error and "form" not in fault.what]


def test_names_without_identifiers_make_no_list() -> None:
    items, _ = read(
        "correspdesc",
        {"a.xml": TEI.format("<correspDesc><correspAction type='sent'><persName ref='#p1'>A</persName>"
                             "<persName/></correspAction></correspDesc>", "")},
    )  # fmt: skip
    (letter,) = items
    assert isinstance(letter, LetterDocument)
    assert not [item for item in items if isinstance(item, AuthorityList)]
    assert letter.values == {"send_date": [], "sender_persons": ["A"], "receiver_persons": []}


def test_no_correspdesc_at_all() -> None:
    with pytest.raises(DatasetError, match=r"a\.xml: has no correspDesc"):
        read("correspdesc", {"a.xml": TEI.format("", "")})
