"""Features of the tokens of a text, for the feature CRF and for the network.

A feature may look at tokens, at their order, and at the line breaks of the text, never at whether a space stands
between two tokens: published tokens end at tags, so that a missing space would tell where an entity begins.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from histeval.systems.taggers.words import STREET_HEADS, STREET_WORDS, TITLE_WORDS, look_alike, plain, shape

Lexicon = Mapping[str, tuple[str, ...]]
"""For a word in lower case: its usual labels in the training texts, as features."""

SEPARATORS = frozenset(",.;():—-")
"""Tokens that end a segment of an entry."""
WINDOW = 6
RARE = 5
"""A word seen less often in training is not in the lexicon."""
_NOT_IN_LEXICON = ("lex=none",)


def lexicon(texts: Sequence[Sequence[str]], labels: Sequence[Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """For each word seen often enough: the labels that have a tenth of its occurrences or more, share in quarters.

    `labels` are without prefixes, one a token.

    >>> lexicon([["rue"] * 4 + ["Rue", "x"]], [["LOC"] * 5 + ["O"]])
    {'rue': ('lex=LOC:4',)}
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for tokens, kinds in zip(texts, labels, strict=True):
        for token, kind in zip(tokens, kinds, strict=True):
            counts[token.lower()][kind] += 1
    words: dict[str, tuple[str, ...]] = {}
    for word, kinds_of_word in counts.items():
        total = sum(kinds_of_word.values())
        if total >= RARE:
            words[word] = tuple(
                f"lex={kind}:{4 * count // total}"
                for kind, count in sorted(kinds_of_word.items())
                if 10 * count >= total
            )
    return words


@lru_cache(maxsize=1 << 16)
def _of_word(token: str) -> tuple[str, ...]:
    """Features that depend on the token alone."""
    word, bare = token.lower(), plain(token)
    size = len(word)
    found = ["b", "w=" + word, "s=" + shape(token), f"len={min(size, 8)}", "f=" + bare]
    for length in range(1, min(size, 6) + 1):
        found += (f"p{length}={word[:length]}", f"q{length}={word[-length:]}")
    found += ("f3=" + bare[-3:], "f4=" + bare[-4:])
    padded = f"^{word}$"
    # The set keeps a token of thousands of characters from having thousands of features that say little.
    found += sorted({f"g{length}={padded[k : k + length]}" for length in (3, 4) for k in range(min(len(padded), 40))})
    found += _classes(token)
    if "." in token and size > 1:
        found.append("abbreviation")
    if any(character.isdigit() for character in token):
        found.append("digit")
    if ord(token[0]) > 0x2000:  # signs, private-use decorations
        found.append("sign")
    return tuple(found)


@lru_cache(maxsize=1 << 16)
def _classes(token: str) -> tuple[str, ...]:
    bare = plain(token)
    return (*(("street",) if bare in STREET_WORDS else ()), *(("title",) if bare in TITLE_WORDS else ()))


@lru_cache(maxsize=1 << 15)
def _seen_from(token: str) -> tuple[tuple[str, ...], ...]:
    """What a token adds to the features of its neighbours, by how far it stands from them (from -WINDOW to WINDOW)."""
    word, form = token.lower(), shape(token)
    found: list[tuple[str, ...]] = []
    for step in range(-WINDOW, WINDOW + 1):
        features = [f"w{step:+d}={word}", f"s{step:+d}={form}"]
        if -2 <= step <= 2:
            features += (f"q{step:+d}={word[-3:]}", f"p{step:+d}={word[:3]}")
            features += [f"{name}{step:+d}" for name in _classes(token)]
        found.append(tuple(features))
    return tuple(found)


_EDGES = [f"edge{step:+d}" for step in range(-WINDOW, WINDOW + 1)]
_STEPS = [step for step in range(-WINDOW, WINDOW + 1) if step]


class _Segments:
    """The runs of tokens between separators, and for each token the number of its segment."""

    def __init__(self, tokens: Sequence[str], words: Sequence[str], shapes: Sequence[str]) -> None:
        self.of_token: list[int] = []
        bounds: list[tuple[int, int]] = []
        start = 0
        for place, token in enumerate(tokens):
            self.of_token.append(len(bounds))
            if token in SEPARATORS:
                bounds.append((start, place))
                start = place + 1
        bounds.append((start, len(tokens)))
        self.bounds = bounds
        count = len(bounds)
        brief: list[tuple[str, str, str]] = []
        for start, end in bounds:
            if start == end:
                brief.append(("-", "-", "-"))
            else:
                brief.append((words[start], words[end - 1], "_".join(shapes[start : min(end, start + 3)])))
        self.features: list[list[str]] = []
        for number, (start, end) in enumerate(bounds):
            left = tokens[start - 1] if start else "^"
            right = tokens[end] if end < len(tokens) else "$"
            first, last, _ = brief[number]
            found = [
                f"seg={min(number, 5)}",
                f"segend={min(count - 1 - number, 5)}",
                f"seglen={min(end - start, 6)}",
                "segfirst=" + first,
                "seglast=" + last,
                "segleft=" + left,
                "segright=" + right,
                f"segsides={left}|{right}",
                "segshape=" + "_".join(shapes[start : min(end, start + 4)]),
                "segf3=" + first[:3],
                "segf4=" + first[:4],
                "segl3=" + last[-3:],
            ]
            if end - start <= 4:
                found.append("segtext=" + "_".join(words[start:end]))
            for name, other in (("prev", number - 1), ("next", number + 1)):
                if 0 <= other < count:
                    first, last, forms = brief[other]
                    found += (f"{name}first={first}", f"{name}last={last}", f"{name}shape={forms}")
                    if name == "next":
                        found += ("nextp3=" + first[:3], "nextp4=" + first[:4])
            self.features.append(found)


def crf_features(tokens: Sequence[str], breaks: Sequence[bool], words_of: Lexicon) -> list[list[str]]:
    """Features of each token. `breaks` says whether the text breaks its line before a token."""
    count = len(tokens)
    words = [token.lower() for token in tokens]
    shapes = [shape(token) for token in tokens]
    bars = list(accumulate(token in ",.;" for token in tokens))
    segments = _Segments(tokens, words, shapes)
    digits = [place for place, token in enumerate(tokens) if any(c.isdigit() for c in token)]
    heads = [place for place, token in enumerate(tokens) if plain(token) in STREET_HEADS]
    brackets = list(accumulate((token == "(") - (token == ")") for token in tokens))
    whole = [f"digits={min(len(digits), 4)}", f"length={min(count // 3, 12)}"]
    if count:
        whole += ("first=" + words[0], "firstshape=" + shapes[0])
    lexical = [words_of.get(word, _NOT_IN_LEXICON) for word in words]
    seen = [_seen_from(token) for token in tokens]
    rows = []
    for place in range(count):
        found = list(_of_word(tokens[place]))
        found += whole
        found += (
            f"pos={min(place, 6)}",
            f"end={min(count - 1 - place, 4)}",
            f"bars={min(bars[place], 5)}",
            f"left={min(bars[-1] - bars[place], 5)}",
            f"open={max(-1, min(brackets[place], 2))}",
        )
        found += _anchor("digit", place, digits)
        found += _anchor("head", place, heads)
        for step in _STEPS:
            other = place + step
            if 0 <= other < count:
                found += seen[other][step + WINDOW]
            else:
                found.append(_EDGES[step + WINDOW])
        if place:
            found += (f"bi-={words[place - 1]}|{words[place]}", f"sb-={shapes[place - 1]}|{shapes[place]}")
        if place + 1 < count:
            found += (f"bi+={words[place]}|{words[place + 1]}", f"sb+={shapes[place]}|{shapes[place + 1]}")
            found += ["n" + feature for feature in lexical[place + 1]]
            if breaks[place + 1]:
                found.append("breaknext")
                found += _joined(words[place], words[place + 1], "this")
        if 0 < place < count - 1:
            found.append(f"tri={shapes[place - 1]}|{shapes[place]}|{shapes[place + 1]}")
        found += lexical[place]
        if breaks[place]:
            found.append("break")
            if place:
                found += _joined(words[place - 1], words[place], "that")
        segment = segments.of_token[place]
        start, end = segments.bounds[segment]
        found += segments.features[segment]
        found.append(f"inseg={min(place - start, 4)},{min(end - place, 4)}")
        rows.append(found)
    return rows


def _anchor(name: str, place: int, places: Sequence[int]) -> tuple[str, ...]:
    """Distance to the first of `places`, and on which side of it the token stands."""
    if not places:
        return (f"no{name}",)
    distance = max(-WINDOW, min(place - places[0], WINDOW))
    return (f"{name}={distance}", f"{name}side={(distance > 0) - (distance < 0)}")


def _joined(first: str, second: str, name: str) -> tuple[str, ...]:
    """A word broken at the end of a line, put together again."""
    if not first.endswith("-") or len(first) < 2:
        return ()
    word = first[:-1] + second
    return (f"{name}join={word}", f"{name}join4={word[:4]}", f"{name}joinq4={word[-4:]}")


@lru_cache(maxsize=1 << 16)
def _network_word(token: str) -> tuple[str, ...]:
    word = token.lower()
    size = len(word)
    found = ["w=" + word, "f=" + look_alike(token), "s=" + shape(token), f"len={min(size, 8)}"]
    for length in range(1, min(size, 4) + 1):
        found += (f"p{length}={word[:length]}", f"q{length}={word[-length:]}")
    padded = f"^{word}$"
    found += sorted({f"g{length}={padded[k : k + length]}" for length in (3, 4) for k in range(min(len(padded), 40))})
    found += _classes(token)
    return tuple(found)


def network_features(tokens: Sequence[str], breaks: Sequence[bool]) -> list[list[str]]:
    """Features of each token for the network, which sees the neighbours by itself."""
    count = len(tokens)
    rows = []
    for place, token in enumerate(tokens):
        found = [*_network_word(token), f"pos={min(place, 8)}", f"end={min(count - 1 - place, 8)}"]
        if breaks[place]:
            found.append("break")
        rows.append(found)
    return rows
