"""Example answers to the demo datasets: two sets a task, invented, with the errors that real models make.

`careful` misses what is hard; `hasty` also ignores what it was asked for. Neither is the answer of any model.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demo import directory_answers
from demo.directories import LINE_BREAK, TEST_BOOK, Row
from demo.manuscripts import PAGES, join

Line = dict[str, Any]

PRICES = {"careful": (2.0, 8.0), "hasty": (0.1, 0.4)}
"""Invented prices in US dollars for a million tokens of input and of output."""
README = """\
# Example answers

Two sets of answers for each demo dataset, `careful.jsonl` and `hasty.jsonl`, one JSON object a line.

**They are invented.** No model, person or program gave them. They were written for Histeval, by hand (letters,
manuscripts) or by the rules of `tools/demo/directory_answers.py` (directories), so that scoring, comparison and plots
have something to show offline.

They carry errors that recorded answers of real models are known for: code fences and prose around the JSON, companies
in place of persons, names that say "null" or "UNKNOWN", dates as written or as stamped on receipt, wrong folio numbers,
additions missed or made up, abbreviations resolved against the instructions, refusals, answers that are cut off,
entities with wrong borders, types or nesting. Tokens (`usage`), US dollars (`cost`) and `seconds` are invented as well.
"""


def answer(**fields: Any) -> str:
    """A letter's record as the text of an answer, wrapped as the schema asks."""
    record = {"send_date": [], "letter_title": None, "sender_persons": None, "receiver_persons": None, **fields}
    return json.dumps({"metadata": record}, ensure_ascii=False)


LETTERS_CAREFUL: dict[str, Line] = {
    "letter01": {
        "text": answer(
            send_date=["1928-03-14"],
            sender_persons=["Th. Halbwachs", "A. Zurlinden"],
            receiver_persons=["Wilhelm Terhoeven"],
        )
    },
    "letter02": {"text": answer(send_date=["1928-03-19"], sender_persons=["Wilh. Terhoeven"], receiver_persons=None)},
    # The bank in place of its head, who did not sign.
    "letter03": {
        "text": answer(
            send_date=["1928-04-02"],
            sender_persons=["Bankhaus Kesselring & Söhne"],
            receiver_persons=["Ed. Brandt-Hellweg"],
        )
    },
    # The right person, in a form that no list holds.
    "letter04": {
        "text": answer(
            send_date=["1928-05-21"],
            letter_title=['Aktennotiz über die Besichtigung des Motorbootes "Wasseramsel"'],
            sender_persons=["Zurlinden, A."],
            receiver_persons=["null"],
        )
    },
    "letter05": {
        "text": answer(
            send_date=["1929-01-09"],
            letter_title=['Offerte No. 217: Motorboot "Wasseramsel"'],
            sender_persons=["K. Lüders"],
            receiver_persons=[],
        )
    },
    "letter06": {
        "text": answer(
            send_date=["1929-02-11"],
            sender_persons=["C. Overbeek"],
            receiver_persons=["Fräulein A. Zurlinden", "Herrn Direktor Halbwachs"],
        )
    },
    "letter07": {"text": answer(send_date=["1930-09-30"], letter_title=["Rundschreiben Nr. 7"])},
    # The president is right, but only his office says so: a person inferred from function.
    "letter08": {
        "text": answer(send_date=["1931-06-05"], sender_persons=["Jak. Mettler"], receiver_persons=["Herr Präsident"])
    },
}

LETTERS_HASTY: dict[str, Line] = {
    # Prose and a fence; the company before the person, the firm before its owner.
    "letter01": {
        "text": """Here is the metadata of the letter you sent:

```json
{
  "letter_title": ["null"],
  "sender_persons": ["Hafen- und Lagerhaus-Gesellschaft Lauterwörth A.-G.", "Th. Halbwachs"],
  "send_date": ["1928-03-14"],
  "receiver_persons": ["Gebr. Terhoeven, Reederei", "Wilhelm Terhoeven"]
}
```

Let me know if you need anything else!"""
    },
    # The date of the stamp of receipt.
    "letter02": {
        "text": '```json\n{"send_date": ["1928-03-21"], "sender_persons": ["Gebr. Terhoeven"], '
        '"receiver_persons": ["null"]}\n```'
    },
    "letter03": {
        "text": '{"letter_title": ["Durchschlag"], "send_date": ["1928-04-02"], "sender_persons": ["null"], '
        '"receiver_persons": ["Herrn Präsidenten Ed. Brandt-Hellweg"]}'
    },
    # The date as it is written.
    "letter04": {
        "text": '{"metadata": {"send_date": ["21. 5. 28."], "letter_title": ["Aktennotiz"], '
        '"sender_persons": [null], "receiver_persons": null}}'
    },
    # A comma after the last member, as in the example of many a prompt.
    "letter05": {
        "text": '{"send_date": ["1929-01-09"], "sender_persons": ["K. Lüders"], '
        '"receiver_persons": ["Direktion der Hafen- und Lagerhaus-Gesellschaft"],}'
    },
    "letter06": {
        "text": answer(
            send_date="1929-02-11",
            sender_persons=["OVERBEEK & ZOON\nExpediteurs - Cargadoors"],
            receiver_persons=["Fräulein Zurlinden"],
        )
    },
    # Cut off after one word.
    "letter07": {"text": "Looking", "finish": "length"},
    "letter08": {
        "text": answer(send_date=["1931-06-05"], sender_persons=["J. Mettler"], receiver_persons=["<UNKNOWN>"])
    },
}


def page(folio: Any, text: str, **additions: Any) -> str:
    return json.dumps({"folios": [{"folio": folio, "text": text, **additions}]}, ensure_ascii=False)


RESOLVED = {"ſ": "s", "ꝛ": "r", "ÿ": "y", "Itꝰ": "Item", "ē": "en"}


def misread(number: int, faults: Mapping[str, str], *, resolved: bool = False) -> str:
    """The text of a page with some readings replaced; every reading must occur. `resolved` spells out all signs."""
    text = join(PAGES[number - 1].lines)
    for sign, plain in RESOLVED.items() if resolved else ():
        text = text.replace(sign, plain)
    for right, wrong in faults.items():
        if right not in text:
            raise ValueError(f"page {number} does not hold {right!r}")
        text = text.replace(right, wrong)
    return text


MANUSCRIPTS_CAREFUL: dict[str, Line] = {
    "image_1": {
        "text": page(
            "4",
            misread(1, {"ſtatt": "ſtat", "brugk": "brugg", "ferē": "feren", "boeſe": "boſe"}),
            addition1="nota\n precium",
        )
    },
    "image_2": {
        "text": page(
            "",
            misread(2, {"frueg": "frug", "zoum": "zom", "kaͤs": "kes", "geſeſſen": "geſeſſe"}),
            addition1="der bꝛuoder\n hies Ruopꝛecht",
            addition2="von dem\n wurm",
        )
    },
    "image_3": {
        "text": page("11", misread(3, {"ꝛ": "r", "hürnē": "hürne", "afren": "affren", "küng": "kung"}), addition1="")
    },
    # The second note in the margin is missed, and a sum is misread.
    "image_4": {
        "text": page(
            "", misread(4, {"ꝛ": "r", "xiiij": "xiij", "hoͤw": "how", "lateren": "latern"}), addition1="iſt bezalt"
        )
    },
}

MANUSCRIPTS_HASTY: dict[str, Line] = {
    # Everything resolved and modernised.
    "image_1": {
        "text": "```json\n"
        + page(
            "4",
            misread(1, {"vnd": "und", "vff": "uff", "noch": "nach", "guoter": "guter", "ferg": "berg"}, resolved=True),
            addition1="nota precium",
        )
        + "\n```"
    },
    # A note stands in the text; the verso gets a number that nobody wrote.
    "image_2": {
        "text": page(
            "5",
            misread(
                2,
                {
                    "pferit": "pferd",
                    "wurm der": "von dem wurm\n wurm der",
                    "vnd giengent": "und gingen",
                    "koler habent gemacht": "koler haben gemacht",
                },
                resolved=True,
            ),
            addition1="der bruoder\n hies Ruoprecht",
        )
    },
    # Cut off in the middle.
    "image_3": {
        "text": page("II", misread(3, {"hürnen": "hurnen"}, resolved=True))[:170],
        "finish": "length",
    },
    # Only a part of the column of amounts, and an addition made up.
    "image_4": {
        "text": page(
            "",
            "\n ".join(
                line.replace("schilling", "s")
                for line in misread(4, {"vj": "vi", "v d": "v denar"}, resolved=True).split("\n ")
                if "dinten" not in line and "plon" not in line
            ),
            addition1="ist bezahlt",
            addition2="Summa falsa",
            addition3="Rechnung",
        )
    },
}


def measured(task: str, kind: str, document: str, line: Line, images: int, asked: int) -> Line:
    """The line with invented tokens, cost and seconds that fit its length."""
    draw = random.Random(f"{task} {kind} {document}")
    if "error" in line:
        return {"document": document, **line, "seconds": round(draw.uniform(0.2, 0.6), 2)}
    said = len(line.get("text") or json.dumps(line.get("record"), ensure_ascii=False))
    spent = said // 3 + (draw.randint(150, 420) if kind == "careful" else draw.randint(2, 9))
    given = 310 + images * 1105 + asked // 3
    price = PRICES[kind]
    cost = round((given * price[0] + spent * price[1]) / 1e6, 8)
    seconds = round((0.9 if kind == "hasty" else 2.4) + images * draw.uniform(0.3, 0.7) + spent / 140, 2)
    usage = {"input_tokens": given, "output_tokens": spent, "total_tokens": given + spent}
    return {"document": document, **line, "usage": usage, "cost": cost, "seconds": seconds}


def write_lines(path: Path, lines: Sequence[Line]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # The line break of the entries is escaped, since some readers would end a line there.
    text = "".join(json.dumps(line, ensure_ascii=False).replace(LINE_BREAK, "\\u2029") + "\n" for line in lines)
    path.write_text(text, encoding="utf-8", newline="\n")


def write(folder: Path, rows: Sequence[Row]) -> None:
    """Writes both sets of each task; `rows` are those of the directories, whose test part is answered."""
    pages = {"letter01": 2, "letter05": 3, "letter08": 2}
    for task, sets in {
        "letters": {"careful": LETTERS_CAREFUL, "hasty": LETTERS_HASTY},
        "manuscripts": {"careful": MANUSCRIPTS_CAREFUL, "hasty": MANUSCRIPTS_HASTY},
    }.items():
        for kind, lines in sets.items():
            write_lines(
                folder / task / f"{kind}.jsonl",
                [measured(task, kind, name, line, pages.get(name, 1), 0) for name, line in lines.items()],
            )
    for kind in ("careful", "hasty"):
        write_lines(
            folder / "directories" / f"{kind}.jsonl",
            [
                measured("directories", kind, str(index), line, 0, 900 + len(row.reference))
                for index, row in enumerate(rows)
                if row.book == TEST_BOOK
                for line in [directory_answers.answer(kind, index, row.reference)]
            ],
        )
    (folder / "README.md").write_text(README, encoding="utf-8", newline="\n")
