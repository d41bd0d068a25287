"""What the columns of other people's tables are called: words for the fields of letters in several languages."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

WORDS: dict[str, tuple[str, ...]] = {
    "send_date": (
        "date", "datum", "briefdatum", "data", "fecha", "datering", "dato", "sent", "date sent", "send date",
        "sending date", "absendedatum", "date d'envoi", "data de envio", "data di invio",
    ),
    "sender_persons": (
        "sender", "senders", "from", "author", "absender", "absenderin", "verfasser", "von", "schreiber", "expediteur",
        "auteur", "mittente", "remitente", "remetente", "autor", "afzender", "avsender",
    ),
    "receiver_persons": (
        "receiver", "recipient", "recipients", "addressee", "to", "empfanger", "empfangerin", "adressat", "an",
        "destinataire", "destinatario", "geadresseerde", "ontvanger", "mottaker",
    ),
    "letter_title": (
        "title", "titel", "titre", "titolo", "titulo", "betreff", "subject", "objet", "oggetto", "assunto",
    ),
    "mentioned_persons": (
        "mentioned persons", "erwahnte personen", "personnes mentionnees", "persone menzionate", "personas mencionadas",
        "pessoas mencionadas", "genoemde personen",
    ),
    "mentioned_places": (
        "mentioned places", "erwahnte orte", "lieux mentionnes", "luoghi menzionati", "lugares mencionados",
        "genoemde plaatsen",
    ),
    "mentioned_organizations": (
        "mentioned organizations", "mentioned organisations", "erwahnte organisationen",
        "organisations mentionnees",
    ),
}  # fmt: skip
"""Words for the published fields, folded as `folded` does."""

IDS = (
    "document number", "document", "id", "identifier", "letter", "nr", "no", "number", "nummer", "signatur",
    "shelfmark", "call number", "cote", "segnatura", "signatura", "cota", "numero", "n", "brief nr", "brief id",
    "letter id",
)  # fmt: skip
SIGNED = (
    "has signatures", "has signature", "is signed", "signed", "unterschrieben", "unterschrift", "unterschriften",
    "unterzeichnet", "signiert", "signe", "signee", "signature", "signatures", "firmato", "firmata", "firmado",
    "firmada", "firma", "firmas", "assinado", "assinada", "assinatura", "ondertekend", "handtekening", "getekend",
)  # fmt: skip
"""Words for the column that says whether a letter is signed; `firma` and others may mean something else, so that what
stands in the column decides too."""
YES = (
    "true", "wahr", "vrai", "vero", "verdadero", "verdadeiro", "waar", "yes", "ja", "oui", "si", "sim", "y", "j", "x",
    "1", "v", "signed", "unterschrieben", "signe", "signee", "firmato", "firmata", "firmado", "firmada", "assinado",
    "assinada", "ondertekend",
)  # fmt: skip
NO = (
    "false", "falsch", "faux", "falso", "onwaar", "no", "nein", "non", "nao", "nee", "n", "0", "unsigned",
    "nicht unterschrieben", "non signe", "non firmato", "no firmado", "nao assinado", "niet ondertekend",
)  # fmt: skip
_TICKS = ("✓", "✔", "☑")
ATTRIBUTES = {
    "language": ("language", "sprache", "langue", "lingua", "idioma", "lengua", "taal"),
    "period": ("period", "zeitraum", "periode", "periodo"),
    "archive": ("archive", "archiv", "archives", "archivio", "archivo", "arquivo", "archief"),
    "collection": ("collection", "bestand", "fonds", "fondo", "coleccion", "colecao", "collectie", "sammlung"),
}
"""Words for what describes a letter and is not asked for."""

UNDATED = (
    "s d", "sd", "n d", "nd", "o d", "od", "o dat", "undated", "undatiert", "ohne datum", "sans date", "senza data",
    "sin fecha", "sem data", "zonder datum", "no date", "unknown", "unbekannt", "inconnu", "inconnue", "date inconnue",
    "sconosciuta", "data sconosciuta", "desconocida", "fecha desconocida", "desconhecida", "data desconhecida",
    "onbekend", "datum unbekannt", "date unknown",
)  # fmt: skip
"""What catalogues write where a letter has no date."""

TOTALS = (
    "total", "totals", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "insgesamt", "total general", "somme",
    "totale", "totale complessivo", "suma", "soma", "totaal", "som",
)  # fmt: skip
"""What the last row of a spreadsheet is called that adds up."""

NAMES = ("name", "names", "nom", "nome", "nombre", "naam", "ansetzung", "preferred name", "vorzugsname")
ALTERNATES = (
    "alternatename", "alternate name", "alternate names", "alias", "aliases", "variants", "varianten", "variantes",
    "namensvarianten", "varianti", "other names",
)  # fmt: skip
SCHEMES = {
    "GND": ("gnd", "gnd id", "gnd nummer"), "VIAF": ("viaf", "viaf id"), "Wikidata": ("wikidata", "wikidata id", "qid"),
    "GeoNames": ("geonames", "geonames id"), "ORCID": ("orcid",), "ISNI": ("isni",),
}  # fmt: skip
"""Columns of authority lists that hold an identifier of this scheme."""

LISTS = {
    "persons": ("person", "people", "personen", "personnes", "persone", "personas", "pessoas"),
    "places": ("place", "orte", "ort", "lieux", "luoghi", "lugares", "plaatsen"),
    "organizations": (
        "organization",
        "organisation",
        "korperschaft",
        "institution",
        "firmen",
        "organizaco",
        "societes",
    ),
    "ships": ("ship", "schiff", "navires", "navi"),
}
"""Beginnings of words in the name of a file or sheet, by the authority list that it then holds."""

_KINDS = (
    ("place", ("place", "ort", "lieu", "luogo", "lugar", "plaats", "city", "stadt", "ville", "citta")),
    ("organisation", ("organi", "firma", "company", "societe", "korperschaft", "institution", "ditta", "empresa")),
    ("person", ("person", "absender", "empfanger", "name", "author", "autor", "auteur", "schreiber")),
    ("date", ("date", "datum", "data", "fecha", "datering")),
    ("number", ("pages", "seiten", "umfang", "anzahl", "count", "number of", "nombre de", "numero di", "paginas")),
)


def folded(name: str) -> str:
    """A heading without case, accents and signs between words.

    >>> folded(" Empfänger/in"), folded("document_number"), folded("Date d’envoi")
    ('empfanger in', 'document number', 'date d envoi')
    """
    plain = unicodedata.normalize("NFKD", name.casefold().replace("ø", "o").replace("ß", "ss"))
    return " ".join(re.sub(r"[\W_]+", " ", "".join(c for c in plain if not unicodedata.combining(c))).split())


def field_for(heading: str) -> str | None:
    """The published field that a heading names, None for others.

    >>> field_for("Remetente"), field_for("Empfänger:in"), field_for("Umfang")
    ('sender_persons', 'receiver_persons', None)
    """
    whole = folded(heading)
    found = {whole, re.sub(r" (in|innen|s|e)$", "", whole)}
    return next((field for field, words in _fields().items() if found & words), None)


@cache
def _fields() -> dict[str, frozenset[str]]:
    """The words for each published field, its name among them."""
    return {field: frozenset((folded(field), *words, *map(folded, words))) for field, words in WORDS.items()}


@cache
def _others() -> frozenset[str]:
    """The words for the other columns of tables of letters and of authority lists."""
    schemes = (word for words in SCHEMES.values() for word in words)
    attributes = (word for words in ATTRIBUTES.values() for word in words)
    return frozenset((*IDS, *SIGNED, *NAMES, *ALTERNATES, *schemes, *attributes))


def is_usual(heading: str) -> bool:
    """Whether a cell is a heading that tables of letters, or authority lists, usually have.

    >>> is_usual("Empfänger"), is_usual("GND"), is_usual("Briefe, Bestand 12")
    (True, True, False)
    """
    return field_for(heading) is not None or folded(heading) in _others()


def holds_identifiers(heading: str) -> bool:
    """Whether a column is called after a scheme of identifiers, as one beside names is.

    >>> holds_identifiers("GND mittente"), holds_identifiers("ID Wikidata (lieu)"), holds_identifiers("Legende")
    (True, True, False)
    """
    return bool({scheme.casefold() for scheme in SCHEMES} & set(folded(heading).split()))


def says(cell: str) -> bool | None:
    """Whether a cell says yes or no, in the languages of the headings; None where it says neither.

    >>> says("WAHR"), says("Não"), says("✓"), says("perhaps")
    (True, False, True, None)
    """
    word = folded(cell.removesuffix(".0"))
    if cell.strip() in _TICKS:
        return True
    return True if word in YES else False if word in NO else None


def is_total(cell: str) -> bool:
    """Whether a cell says that its row is a sum.

    >>> is_total("Summe:"), is_total("TOTAL"), is_total("Summer, Jakob")
    (True, True, False)
    """
    return folded(cell) in TOTALS


def field_name(heading: str) -> str:
    """A field name made of a heading.

    >>> field_name("Ort (Absender)"), field_name("2. Datum"), field_name("???")
    ('ort_absender', 'field_2_datum', '')
    """
    name = re.sub(r"\W+", "_", unicodedata.normalize("NFC", heading).strip().lower()).strip("_")
    return f"field_{name}" if name[:1].isdigit() else name


def kind_for(heading: str) -> str | None:
    """The kind that a heading suggests, None where it says nothing.

    >>> kind_for("Absendeort"), kind_for("Firma"), kind_for("Betreff")
    ('place', 'organisation', None)
    """
    word = folded(heading)
    padded = f" {word} "
    for kind, parts in _KINDS:
        if any(f" {part}" in padded or f"{part} " in padded for part in parts):
            return kind
    return None


def list_for(name: str) -> str | None:
    """The authority list that a file or sheet of this name holds.

    >>> list_for("Personenregister"), list_for("orte_2024"), list_for("Briefe")
    ('persons', 'places', None)
    """
    word = f" {folded(name)}"
    return next((known for known, words in LISTS.items() if any(f" {part}" in word for part in words)), None)
