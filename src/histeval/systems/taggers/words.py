"""What a tagger's features know of a single word: its shape, its folded forms, and two short lists of French words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_STREET = """r rue rues av aven avenue avenues boul boulev bould bd boulevard boulevards pl place places q quai quais
    pass passage passages imp impasse cul sac cour cours cloitre clos carr carref carrefour ch chemin chaussee
    faub fb fbg f faubourg gal galerie galeries hotel hot ile isle march marche enclos esplanade petit petite grand
    grande gr pt pte neuve neuf nve vieille vieux port porte pont barr barriere rempart rond point rotonde ruelle
    sentier square st ste saint sainte s mont montagne butte cite villa palais pal halle abbaye parvis allee allees
    n no de du des d la le les l a au aux en et pres vis"""
STREET_WORDS = frozenset(_STREET.split())
"""Words, without accents and final stop, of which French addresses are made; other languages simply lack them."""

_TITLE = """elig el electeur notable not chev chevalier off officier comm commandeur baron baronne comte comtesse
    marquis duc duchesse vicomte prince dr docteur abbe gen general colonel col cap capitaine lieut depute senateur pair
    representant membre med medaille exp exposition brev brevete mention honorable acad academie institut juge maire
    me mme mlle mad ve vve veuve cte bon mis vte"""
TITLE_WORDS = frozenset(_TITLE.split())
"""Words, without accents and final stop, of which titles, honours and distinctions are made."""

_HEADS = """r rue av aven avenue boul boulev boulevard pl place q quai pass passage imp impasse cul cour cloitre carr
    carrefour chemin chaussee faub fb fbg faubourg gal galerie enclos hotel ile isle"""
STREET_HEADS = frozenset(_HEADS.split())
"""Those of the street words that usually begin an address."""

_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_RUN = re.compile(r"(.)\1{2,}")
_LOOK_ALIKES = str.maketrans({"1": "l", "i": "l", "j": "l", "|": "l", "0": "o", "5": "s", "ſ": "f", "8": "b", "¬": "-"})


@lru_cache(maxsize=1 << 16)
def shape(word: str) -> str:
    """Letters as X and x, digits as 9, runs shortened to two.

    >>> shape("St.-Honoré"), shape("1819")
    ('Xx.-Xxx', '99')
    """
    letters = _LETTER.sub(lambda letter: "X" if letter[0].isupper() else "x", word)
    return _RUN.sub(r"\1\1", _DIGIT.sub("9", letters))


@lru_cache(maxsize=1 << 16)
def plain(word: str) -> str:
    """The word in lower case, without accents and without a final stop.

    >>> plain("Élig.")
    'elig'
    """
    decomposed = unicodedata.normalize("NFD", word.lower())
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return bare.rstrip(".") or bare


def look_alike(word: str) -> str:
    """The plain word with characters that OCR takes for each other made one.

    >>> look_alike("1llustre") == look_alike("Illustré")
    True
    """
    return plain(word).translate(_LOOK_ALIKES)
