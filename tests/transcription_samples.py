"""Files as Transkribus, eScriptorium, Tesseract and editors write them; every word of their content is invented."""

from __future__ import annotations

import zipfile
from pathlib import Path
from textwrap import dedent

JPEG = b"\xff\xd8\xff\xe0" + bytes(32) + b"\xff\xd9"
PAGE_2013 = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15"
ALTO_4 = "http://www.loc.gov/standards/alto/ns-v4#"


def page_xml(body: str, *, namespace: str = PAGE_2013, image: str = "0001_harbour.jpg") -> bytes:
    """A PAGE file with a Page around `body`."""
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
        f'<PcGts xmlns="{namespace}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'
        "<Metadata><Creator>Transkribus</Creator><Created>2025-01-02T03:04:05Z</Created>"
        "<LastChange>2025-01-02T03:04:05Z</LastChange></Metadata>\n"
        f'<Page imageFilename="{image}" imageWidth="2000" imageHeight="3000">\n{body}\n</Page></PcGts>'
    ).encode()


def text_line(identifier: str, text: str, index: int = 0, custom: str = "") -> str:
    """A TextLine as Transkribus writes it."""
    return (
        f'<TextLine id="{identifier}" custom="readingOrder {{index:{index};}} {custom}">'
        '<Coords points="10,10 90,10 90,30 10,30"/><Baseline points="10,28 90,28"/>'
        f"<TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>"
    )


def region(identifier: str, kind: str, *lines: str, top: int = 0, index: int = 0, text: str = "") -> str:
    """A TextRegion as Transkribus writes it: the lines, then the text of all of them."""
    rows = "".join(text_line(f"{identifier}l{n}", line, n) for n, line in enumerate(lines))
    custom = f"readingOrder {{index:{index};}}" + (f" structure {{type:{kind};}}" if kind else "")
    points = f"10,{top} 500,{top} 500,{top + 50} 10,{top + 50}"
    whole = text or "\n".join(lines)
    return (
        f'<TextRegion {f"type={chr(34)}{kind}{chr(34)}" if kind else ""} id="{identifier}" custom="{custom}">'
        f'<Coords points="{points}"/>{rows}<TextEquiv><Unicode>{whole}</Unicode></TextEquiv></TextRegion>'
    )


def order(*names: str) -> str:
    """A flat reading order."""
    refs = "".join(f'<RegionRefIndexed index="{n}" regionRef="{name}"/>' for n, name in enumerate(names))
    return f'<ReadingOrder><OrderedGroup id="ro" caption="Regions reading order">{refs}</OrderedGroup></ReadingOrder>'


def transkribus_export(folder: Path) -> Path:
    """A zip archive as Transkribus exports it: a folder of the document with page/, METS and images; two pages."""
    pages = {
        "0001_harbour": order("r1", "r2", "r3")
        + region("r1", "page-number", "17")
        + region("r2", "paragraph", "Item der schiffman sol", "das ſeil bewaren", "", index=1, top=100)
        + region("r3", "marginalia", "nota bene", index=2, top=90),
        "0002_harbour": order("r1")
        + region("r1", "paragraph", "vnd ſol es nit", "verderben laſſen")
        + region("r2", "marginalia", "vom ſeil", top=40),
    }
    path = folder / "export_harbour.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in pages.items():
            archive.writestr(f"4711/harbour_book/page/{name}.xml", page_xml(body, image=f"{name}.jpg"))
            archive.writestr(f"4711/harbour_book/{name}.jpg", JPEG)
        archive.writestr("4711/harbour_book/mets.xml", '<mets xmlns="http://www.loc.gov/METS/"/>')
        archive.writestr("4711/harbour_book/metadata.xml", "<trpDocMetadata><title>harbour</title></trpDocMetadata>")
    return path


def alto_line(identifier: str, text: str) -> str:
    """A line as eScriptorium writes it: one String with all its words."""
    return (
        f'<TextLine ID="{identifier}" TAGREFS="LT1" BASELINE="10 28 90 28" HPOS="10" VPOS="10" WIDTH="80" HEIGHT="20">'
        f'<Shape><Polygon POINTS="10 10 90 10 90 30 10 30"/></Shape>'
        f'<String CONTENT="{text}" HPOS="10" VPOS="10" WIDTH="80" HEIGHT="20"/></TextLine>'
    )


def block(identifier: str, tag: str, *lines: str, more: str = "") -> str:
    """A TextBlock as eScriptorium writes it."""
    rows = "".join(alto_line(f"{identifier}_line{n}", line) for n, line in enumerate(lines))
    tags = f'TAGREFS="{tag}"' if tag else ""
    return (
        f'<TextBlock HPOS="0" VPOS="0" WIDTH="100" HEIGHT="100" ID="{identifier}" {tags} {more}>'
        f'<Shape><Polygon POINTS="0 0 100 0 100 100 0 100"/></Shape>{rows}</TextBlock>'
    )


def alto_xml(body: str, *, namespace: str = ALTO_4, image: str = "leaf_12.png", before: str = "") -> bytes:
    """An ALTO file with a PrintSpace around `body`."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<alto xmlns="{namespace}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        "<Description><MeasurementUnit>pixel</MeasurementUnit>"
        f"<sourceImageInformation><fileName>{image}</fileName></sourceImageInformation></Description>"
        '<Tags><OtherTag ID="BT1" LABEL="MainZone" DESCRIPTION="block type MainZone"/>'
        '<OtherTag ID="BT2" LABEL="MarginTextZone" DESCRIPTION="block type MarginTextZone"/>'
        '<OtherTag ID="BT3" LABEL="NumberingZone" DESCRIPTION="block type NumberingZone"/>'
        '<OtherTag ID="LT1" LABEL="default" DESCRIPTION="line type default"/></Tags>'
        f'{before}<Layout><Page WIDTH="2000" HEIGHT="3000" PHYSICAL_IMG_NR="0" ID="eSc_dummypage_">'
        f'<PrintSpace HPOS="0" VPOS="0" WIDTH="2000" HEIGHT="3000">{body}</PrintSpace></Page></Layout></alto>'
    ).encode()


def escriptorium_export(folder: Path) -> Path:
    """A folder as eScriptorium exports it: ALTO files beside their images, Hebrew and Latin lines."""
    target = folder / "export_doc12_psalter_alto"
    target.mkdir()
    (target / "leaf_12.xml").write_bytes(
        alto_xml(block("b0", "BT3", "12") + block("b1", "BT1", "שלום לכל", "קורא זה") + block("b2", "BT2", "lege"))
    )
    (target / "leaf_13.xml").write_bytes(
        alto_xml(block("b1", "BT1", "benedicite", "ꝓ omnibus ⁊ singulis"), image="leaf_13.png")
    )
    for name in ("leaf_12", "leaf_13"):
        (target / f"{name}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(16) + b"IEND\xaeB`\x82")
    return target


def tei(body: str, header: str = "") -> bytes:
    """A TEI file with a body."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc>'
        "<titleStmt><title>Das Buch vom Seil</title></titleStmt><publicationStmt><p>x</p></publicationStmt>"
        f"<sourceDesc><p>x</p></sourceDesc></fileDesc>{header}</teiHeader><text><body>{body}</body></text></TEI>"
    ).encode()


EDITION = dedent(
    """
    <div><pb n="3r" facs="scans/rope_3r.jpg"/><fw type="folNum" place="top-right">iii</fw>
    <head><lb/>Von dem ſeil</head>
    <p><lb n="1"/>Item <choice><abbr>dz</abbr><expan>d<ex>a</ex>z</expan></choice> ſeil
       <lb n="2"/>ſol <choice><sic>sin sin</sic><corr>sin</corr></choice> <del rend="strike">lang</del>
       <add place="above">ſtark</add><note type="editorial">A later hand.</note>
       <lb n="3" break="no"/>vnd <gap reason="hole" extent="2"/> <unclear>guot</unclear>
       <add place="margin">nota</add></p>
    <pb n="3v" facs="scans/rope_3v.jpg"/>
    <p><lb/>wer es <hi rend="red">nimet</hi><note place="left">fur</note>
       <lb/>der <choice><orig>ſol</orig><reg>soll</reg></choice> es <supplied>wider</supplied> geben</p></div>
    """
)


def edition(folder: Path) -> Path:
    """An edition of two pages in one TEI file."""
    path = folder / "rope.xml"
    path.write_bytes(tei(EDITION))
    return path


def hocr(body: str, image: str = "street_1.png") -> bytes:
    """A page as Tesseract writes it."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" '
        '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en"><head><title></title>'
        '<meta http-equiv="Content-Type" content="text/html;charset=utf-8"/>'
        "<meta name='ocr-system' content='tesseract 5.3.0' /></head><body>"
        f"<div class='ocr_page' id='page_1' title='image \"/scans/{image}\"; bbox 0 0 100 100; ppageno 0'>{body}</div>"
        "</body></html>"
    ).encode()


def hocr_line(identifier: str, *words: str, kind: str = "ocr_line") -> str:
    """A line of words as Tesseract writes it."""
    spans = "\n".join(
        f"<span class='ocrx_word' id='{identifier}_{n}' title='bbox 1 1 9 9; x_wconf 90'>{word}</span>"
        for n, word in enumerate(words)
    )
    return f"<span class='{kind}' id='{identifier}' title=\"bbox 1 1 90 9; baseline 0 -2\">\n{spans}\n</span>"


def hocr_block(identifier: str, *lines: str) -> str:
    """An area with a paragraph of lines, as Tesseract writes it."""
    return (
        f"<div class='ocr_carea' id='{identifier}' title=\"bbox 0 0 9 9\"><p class='ocr_par' id='par_{identifier}' "
        f"lang='deu' title=\"bbox 0 0 9 9\">{''.join(lines)}</p></div>"
    )
