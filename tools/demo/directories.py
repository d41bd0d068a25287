"""Four hundred invented directory entries in three invented books, and the same entries as a poor OCR reads them.

Layout, line format and grammar are those of the published trade directories, so that one reader serves both.
"""

from __future__ import annotations

import html
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path

LINE_BREAK = "\u2029"
HONOUR = "\ue020"
"""The private-use sign for the badge of an order, which stands after a name."""
MEDAL = "\u24b6"


def words(text: str) -> list[str]:
    return text.split()


def phrases(text: str) -> list[str]:
    return text.replace("\n", "|").split("|")


SURNAMES = words("""\
Abelin Auverlot Bachelard-Moy Barsanne Baudrillon Bezancourt Boisgautier Bouchevreau Brissolet Cabrignac
Carpenteau Chamboret Chantelouvet Clavignon Coquebin Courtemarche Crespinel Dabrincourt Delaforgerie Desmoulinet
Dorvignac Drouhard Ducastelet Dupuisard Escarbot Estournel Faucherand Ferrandeau Flamentin Fontgrave Fourchambet
Froidemont Gabillaud Galantier Gaudichaud Gerbevillet Girandole Godinaud Gourdonnet Grandperrin Grelucheau Guignandon
Hautefaye Hébrardin Herbelot Huchemin Imbertin Jacqueminot Jaubertin Jolicorne Jourdheuil Labrunette Lachevardière
Lagrangette Lambrecq Lanternier Laverdois Leboucqueron Lecouteux-Bry Leguidon Lerouvillois Lhospitalet Loiselain
Longuevilliers Machecourt Maillochon Malassinet Marcadieu Marchepoil Maugirard Mercadon Millevoix Moncornet Montaubry
Morissonneau Naudilleau Nivernoux Oudarteau Pagevin Paillardel Pastourin Pelletanche Perrichon Pigeonnat Poitevinat
Pontarlet Poussardin Quillebois Quintaine Rabourdel Ragueneau Rastignon Ravinelle Renaudelle Ribaudière Rochebrunet
Rondeleux Roquevert Sablonnet Saintonnier Salvagnac Sarrazinot Sauvageol Senneterre Soufflard Taillepied Tavernol
Thévenardin Tirebuchet Tournemine Trébuchard Valcourtin Vauquelinet Verdureau Viellerobe Villandrin Voiturier
Wattebled Yvonnel""")
FORENAMES = words("A. Ch. Ed. Félix Hipp. J. J.-B. Jules L. Marcellin N. P. Prosper Th. Victor")
TRADES = phrases("""\
agent d'affaires|arquebusier|balancier|bandagiste|bonnetier|boulanger|bourrelier|boutonnier|brossier|cartonnier
chapelier|charron|chaudronnier|cirier|confiseur|cordier|corroyeur|coutelier|doreur sur bois|ébéniste|épicier
éventailliste|fab. de bronzes|fab. de chandelles|fab. de cols|fab. de papiers peints|ferblantier
fondeur en caractères|fruitier|gantier|graveur|herboriste|horloger|imprimeur en taille-douce|layetier-emballeur
libraire|lingère|luthier|md de bois|md de laines|md de vins|menuisier en bâtimens|mercier|modiste|opticien
papetier|parfumeur|passementier|peaussier|plumassier|quincaillier|relieur|sage-femme|sellier|tabletier|tapissier
teinturier|tonnelier|tourneur en cuivre|vannier|vitrier""")
OFFICES = [
    ("avocat", ", barreau du ressort"),
    ("chef de bureau", " aux octrois"),
    ("commis principal", " à la caisse des arts"),
    ("greffier", " du tribunal d'arrondissement"),
    ("inspecteur", " des ponts et canaux"),
    ("professeur", " au collége des Quatre-Vents"),
    ("receveur", " de la loterie, bureau du Levant"),
    ("sous-directeur", " de l'entrepôt des huiles"),
]
GOODS = [
    ("fab. de lampes", ", à niveau constant, dites du Phare"),
    ("fab. de toiles cirées", " et de stores peints"),
    ("mag. de nouveautés", ": fait l'envoi en province"),
    ("fab. d'instrumens", " de marine et d'arpentage"),
    ("fab. de pendules", ", sujets et candélabres"),
    ("ressorts et essieux", ", brev. d'invention"),
]
WAYS = ["r.", "r.", "r.", "r.", "r.", "rue", "quai", "pl.", "pass.", "boul.", "cour", "impasse"]
PLACES = phrases("""\
des Trois-Hérons|du Puits-Doré|de la Lanterne-Bleue|Neuve-des-Cordiers|du Moulin-Couvert|S.-Evrard
de la Vieille-Saline|des Deux-Greniers|du Faub.-S.-Evrard|Ste-Foline|du Four-à-Plâtre|du Chat-qui-File
des Tanneurs|de l'Abreuvoir-Neuf|de la Porte-Rouge|du Marché-aux-Osiers|Basse-du-Cloître|de l'Orme-Sec
des Quatre-Nattes|du Petit-Cerf|de la Corderie-Royale|S.-Gaudens-aux-Vignes|du Cherche-Lune|des Bains-Vieux
de la Tête-Noire|Montgiroux|du Pont-aux-Ânes|d'Aubrac|des Fossés-S.-Médoc|de la Bergère|Traverse-des-Jacinthes
du Sabot|de la Verrerie-Haute|Coquelicot|du Singe-Vert|des Lavandières-Ste-Foline|de Quercy|du Bel-Air
Grande-Lingerie""")
DISTRICTS = ["près la halle aux Osiers", "au coin du quai", "maison du notaire", "au fond de la cour", "S.-Evrard"]
TOWNS = ["Monteclair", "Vaulx-le-Grand", "Saint-Ferjol", "Orcival-sur-Ance"]


@dataclass(frozen=True)
class Book:
    """A directory: its name, its pages, entries a page, and its habits of print."""

    name: str
    pages: tuple[int, ...]
    entries: int
    streets: str
    """How a street is written: `full` (r. du Sabot), `short` (du Sabot, the word for street left out)."""
    ruler: str
    """What ends an entry: `page` puts a reference to a page of the list of trades after it."""
    describes: float
    honours: float


BOOKS = (
    Book("Almanach_Verdelet_1811", (41, 42, 43), 44, "full", "none", 0.05, 0.05),
    Book("Annuaire_Bonnaventure_1829", (118, 119, 120, 121, 122, 123), 22, "full", "page", 0.20, 0.12),
    Book("Indicateur_Rochebel_1844", (305, 306, 307, 308), 34, "short", "none", 0.16, 0.12),
)
TEST_BOOK = "Annuaire_Bonnaventure_1829"


@dataclass(frozen=True)
class Row:
    """An entry as printed and as read by OCR, both with tags; a `valid` one has content in every tag of both."""

    book: str
    page: int
    reference: str
    noisy: str
    valid: bool = True


def tag(name: str, content: str) -> str:
    return f"<{name}>{content}</{name}>"


def person(draw: random.Random, book: Book, name: str) -> str:
    shape = draw.random()
    if shape < 0.42:
        inner = name
    elif shape < 0.54:
        inner = f"{name} ({draw.choice(FORENAMES)})"
    elif shape < 0.62:
        inner = f"{name} {draw.choice(['fils', 'aîné', 'jeune', 'père'])}"
    elif shape < 0.69:
        inner = f"{name} (V.e)" if book.name < "B" else f"{name} (Vve)"
    elif shape < 0.78:
        inner = f"{name} et {draw.choice(SURNAMES)}"
    elif shape < 0.86:
        inner = f"{name} {draw.choice(['et comp.', 'frères', 'et Cie', 'père et fils'])}"
    elif shape < 0.92:
        inner = f"{name}-{draw.choice(SURNAMES).split('-')[0]}"
    else:
        inner = f"{name} (Mlle {draw.choice(FORENAMES)})" if shape > 0.97 else f"{name} (de)"
    if draw.random() < book.honours:
        title = draw.choice([HONOUR, f"O. {HONOUR}", "chev.", "élig.", "N. C."])
        inner += draw.choice([f" {tag('TITRE-H', title)}", f", {tag('TITRE-H', title)}", f" ({tag('TITRE-H', title)})"])
    return tag("PER", inner)


def prize(draw: random.Random, book: Book) -> str:
    year = int(book.name[-4:]) - draw.choice([1, 2, 5, 10])
    return draw.choice([f"exp. {year}", f"M. H. {year}", f"méd. d'arg. {year}", f"{MEDAL} {year}"])


def occupation(draw: random.Random, book: Book) -> str:
    if draw.random() < book.describes:
        shape = draw.random()
        if shape < 0.40:
            act, rest = draw.choice(OFFICES)
            return tag("DESC", tag("ACT", act) + rest)
        if shape < 0.62:
            act, rest = draw.choice(GOODS)
            return tag("DESC", tag("ACT", act) + rest)
        if shape < 0.80:
            return tag("DESC", f"{tag('ACT', draw.choice(TRADES))} ({tag('TITRE-P', prize(draw, book))})")
        if shape < 0.92:
            act, rest = draw.choice(GOODS)
            prizes = f"{tag('TITRE-P', prize(draw, book))} {tag('TITRE-P', prize(draw, book))}"
            return tag("DESC", f"{tag('ACT', act)}{rest}, {prizes}")
        return tag("DESC", draw.choice(["membre du conseil des hospices", "ancien négociant", "rentier, électeur"]))
    act = draw.choice(TRADES)
    if draw.random() < 0.12:
        act += f" et {draw.choice(TRADES)}"
    return tag("ACT", act)


def street(draw: random.Random, book: Book) -> str:
    place = draw.choice(PLACES)
    way = draw.choice(WAYS)
    if book.streets == "short" and way in ("r.", "rue"):
        return re.sub(r"^(du|des|de la|de) ", "", place)
    return f"{way} {place}"


def number(draw: random.Random) -> str:
    value = str(draw.randint(1, 140))
    shape = draw.random()
    if shape < 0.05:
        return f"{value} bis"
    return f"{value} et {int(value) + 2}" if shape < 0.10 else value


def address(draw: random.Random, book: Book) -> str:
    shape = draw.random()
    place = tag("LOC", street(draw, book))
    house = tag("CARDINAL", number(draw))
    comma = draw.choice([", ", ", ", ", ", ", ", " , ", ",", ". "])
    if shape < 0.80:
        return tag("SPAT", place + comma + house)
    if shape < 0.84:
        return tag("SPAT", f"{place}{comma}{house}, {tag('LOC', draw.choice(DISTRICTS))}")
    if shape < 0.87:
        # Two names of places with nothing but a blank between: IO cannot keep them apart.
        return tag("SPAT", f"{place} {tag('LOC', draw.choice(DISTRICTS))}{comma}{house}")
    if shape < 0.92:
        second = tag("SPAT", f"{tag('LOC', street(draw, book))}{comma}{tag('CARDINAL', number(draw))}")
        return tag("SPAT", place + comma + house) + draw.choice([", et ", "; ", " et "]) + second
    if shape < 0.94:
        # Two addresses side by side, with a blank between.
        second = tag("SPAT", f"{tag('LOC', street(draw, book))}{comma}{tag('CARDINAL', number(draw))}")
        return f"{tag('SPAT', place + comma + house)} {second}"
    if shape < 0.98:
        works = tag("SPAT", f"{tag('FT', draw.choice(['fab.', 'fabrique']))} à {tag('LOC', draw.choice(TOWNS))}")
        return works + draw.choice([", ", "; "]) + tag("SPAT", f"{tag('FT', 'dépôt')}, {place}{comma}{house}")
    return tag("SPAT", place)


def entry(draw: random.Random, book: Book, name: str) -> str:
    parts = [person(draw, book, name)]
    if draw.random() > 0.05:
        parts.append(occupation(draw, book))
    if draw.random() > 0.02 or len(parts) == 1:
        parts.append(address(draw, book))
    end = "."
    shape = draw.random()
    if shape < 0.04:
        honour = draw.choice(["(Elig.)", "(Élect.)", f"({prize(draw, book)})"])
        end = f". {tag('TITRE', honour)}"
    elif shape < 0.06:
        end = f". [{draw.choice(['Voyez aussi Vins', 'Voir Bronzes', 'Syndics'])}]."
    if book.ruler == "page":
        end += f" {draw.randint(271, 489)}" + (f", {draw.randint(271, 489)}" if draw.random() < 0.15 else "")
    text = ", ".join(parts) + end
    return break_line(text)


VOWELS = "aeiouyéèêâîô"
SYLLABLE = re.compile(rf"[a-zéèêâîô][{VOWELS}](?:[^\W\d_{VOWELS}][{VOWELS}])\w")
"""Where a word may be broken: after a vowel, before a consonant with a vowel."""


def break_line(text: str) -> str:
    """`text` with its column's line break: at a blank, or after a hyphen within a long word."""
    if len(html.unescape(re.sub(r"<[^>]*>", "", text))) < 44:
        return text
    seen, inside = 0, False
    for place, character in enumerate(text):
        inside = character == "<" or (inside and text[place - 1] != ">")
        if inside:
            continue
        seen += 1
        if seen < 38:
            continue
        if character == " " and text[place - 1] not in "<>":
            return text[:place] + LINE_BREAK + text[place + 1 :]
        if SYLLABLE.fullmatch(text[place - 2 : place + 3]):
            return f"{text[:place]}-{LINE_BREAK}{text[place:]}"
    return text


CONFUSIONS = {
    "e": "cé",
    "é": "eè",
    "è": "éc",
    "a": "uà",
    "u": "nii",
    "n": "uu",
    "r": "tv",
    "t": "il",
    "l": "1i",
    "i": "lí",
    "c": "eo",
    "o": "0c",
    "s": "ſz",
    "S": "8s",
    "m": "nn",
    "h": "li",
    "B": "R8",
    "D": "O",
    "G": "C",
    "L": "I",
    "M": "N",
    "P": "F",
    "R": "B",
    "1": "lI",
    "3": "8",
    "5": "S",
    "6": "0",
    "8": "3",
    "7": "1",
    ",": ".",
    ".": ",",
    HONOUR: "*",
    MEDAL: "A",
}


def noise(draw: random.Random, text: str, rate: float) -> str:
    """`text` (one text node) as OCR reads it; never without content where it had some."""
    read = []
    for character in text:
        chance = draw.random()
        if chance < rate and character in CONFUSIONS:
            read.append(draw.choice(CONFUSIONS[character]))
        elif chance < rate * 1.12 and character not in LINE_BREAK:
            read.append(draw.choice(["", "", character + character, "'"]))
        else:
            read.append(character)
    result = "".join(read)
    return result if result.strip() or not text.strip() else text


def ocr(draw: random.Random, reference: str) -> str:
    rate = draw.choice([0.0, 0.01, 0.03, 0.03, 0.06, 0.11])
    pieces = re.split(r"(<[^>]*>)", reference)
    noisy = "".join(
        piece if piece.startswith("<") else html.escape(noise(draw, piece, rate)).replace("&#x27;", "&apos;")
        for piece in pieces
    )
    if draw.random() < 0.05:
        noisy = draw.choice(["☞ ", "— ", "' "]).replace("'", "&apos;") + noisy
    if draw.random() < 0.05:
        noisy += LINE_BREAK + draw.choice(["II", "JO.", "—"])
    return noisy


def rows() -> list[Row]:
    """All entries, in the order of books, pages and names; eight of them lost a tag's content to OCR."""
    draw = random.Random("histeval directories 1")
    result: list[Row] = []
    seen: set[str] = set()
    for book in BOOKS:
        wanted = book.entries * len(book.pages)
        names = sorted(draw.choice(SURNAMES) for _ in range(wanted))
        for index, name in enumerate(names):
            reference = entry(draw, book, name)
            while reference in seen:
                reference = entry(draw, book, name)
            seen.add(reference)
            page = book.pages[index // book.entries]
            result.append(Row(book.name, page, reference, ocr(draw, reference)))
    spoilt = draw.sample([row for row in result if "<CARDINAL>" in row.reference], 8)
    for row in spoilt:
        # A copy of the entry whose house number OCR did not see: in all.json only, as in the published data.
        reference = row.reference.replace(row.reference[5 : row.reference.index("<", 5)], draw.choice(SURNAMES), 1)
        noisy = re.sub(r"<CARDINAL>[^<]*</CARDINAL>", "<CARDINAL> </CARDINAL>", ocr(draw, reference), count=1)
        place = result.index(row)
        result.insert(place, Row(row.book, row.page, reference, noisy, valid=False))
    return result


def split(valid: list[Row]) -> dict[str, list[int]]:
    """Test is one whole book; every tenth of the other rows is dev."""
    test = [index for index, row in enumerate(valid) if row.book == TEST_BOOK]
    others = [index for index, row in enumerate(valid) if row.book != TEST_BOOK]
    return {"train": [r for n, r in enumerate(others) if n % 10 != 9], "dev": others[9::10], "test": test}


DESCRIPTION = """\
# Invented for Histeval: no entry stands in any real directory.
task = "directories"
name = "demo_directories"
title = "Invented trade directories"
text = \"\"\"400 entries of three trade directories that never were, 13 pages in all, written by a program for Histeval
in the grammar of the Paris directories of 1798 to 1861: as printed, and as a poor OCR reads them.\"\"\"
languages = ["fr"]
period = "1811-1844"
unit = "page"
licence = "MIT"
citation = "Histeval, bundled demo data (invented)"
published = "2026-11-30"
source = "tools/make_demo_data.py of the Histeval repository"

[split]
file = "split_indices.json"
"""


def write(folder: Path) -> list[Row]:
    """Writes the dataset and returns the rows that count, in file order."""
    every = rows()
    valid = [row for row in every if row.valid]
    gold = folder / "dataset" / "41-ner_ref_from_pero"
    noisy = folder / "dataset" / "31-ner_align_pero"
    for place in (gold, noisy):
        place.mkdir(parents=True, exist_ok=True)
    (gold / "gold.csv").write_text(
        "".join(f'"{row.reference}", "{row.book}"\n' for row in valid), encoding="utf-8", newline="\n"
    )
    (noisy / "gold.csv").write_text(
        "\n".join(f'"{row.noisy}", "{row.book}"' for row in valid), encoding="utf-8", newline="\n"
    )
    records = [
        {
            "id": 100 + 2 * index,
            "book": row.book,
            "page": row.page,
            "text_ocr": html.unescape(re.sub(r"<[^>]*>", "", row.noisy)).replace(LINE_BREAK, "\n"),
            "nested_ner_xml": row.noisy,
            "has_valid_ner_xml": row.valid,
        }
        for index, row in enumerate(every)
    ]
    text = json.dumps(records, ensure_ascii=False, indent=1)
    (noisy / "all.json").write_text(text + "\n", encoding="utf-8", newline="\n")
    parts = json.dumps(split(valid))
    (folder / "split_indices.json").write_text(parts + "\n", encoding="utf-8", newline="\n")
    (folder / "dataset.toml").write_text(DESCRIPTION, encoding="utf-8", newline="\n")
    return valid
