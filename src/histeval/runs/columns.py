"""Answers in columns: a token a line with its labels at level 1 and level 2 (or one label, of a flat tagger), an
empty line between documents.

A line `# document = ID` before a block names its document; without any such line the blocks are the dataset's
documents in order. A `#` that is itself a token has further columns and is kept.
"""

from __future__ import annotations

import re
from pathlib import Path

from histeval.datasets.base import Dataset
from histeval.datasets.files import read_lines
from histeval.errors import AnswersError
from histeval.runs.answers import AnswerSet
from histeval.tasks.base import Answer

NAME = re.compile(r"#\s*(?:document|id|sent_id)\s*[=:]\s*(\S.*)")
COMMENT = re.compile(r"#\s*(?:text|text_json|global\.columns|attribute \S+)\s*=.*")
"""Comments that `histeval export --format conll` writes, which answer nothing."""


def read_columns(place: Path, dataset: Dataset) -> AnswerSet:
    """The answers of a `.conll` or `.tsv` file; raises AnswersError for a line that has not two or three columns."""
    if dataset.task != "directories":
        raise AnswersError(f"token columns answer the task directories, not {dataset.task}", file=place)
    blocks: list[tuple[str | None, list[tuple[str, ...]]]] = []
    name: str | None = None
    rows: list[tuple[str, ...]] = []
    for number, line in [*read_lines(place, error=AnswersError), (0, "")]:
        columns = tuple(line.split("\t") if "\t" in line else line.split(" ")) if line.strip() else ()
        if not columns:
            if rows:
                blocks.append((name, rows))
                name, rows = None, []
        elif (match := NAME.fullmatch(line.strip())) and "\t" not in line:
            name = match[1].strip()
        elif "\t" not in line and COMMENT.fullmatch(line.strip()):
            continue
        elif len(columns) not in (2, 3):
            what = f"has {len(columns)} columns, not a token, its label at level 1 and its label at level 2"
            remedy = f"`histeval import {dataset.task} FILE --answers ANSWERS.jsonl` reads any other columns"
            raise AnswersError(what, file=place, line=number, remedy=remedy)
        else:
            if rows and len(rows[0]) != len(columns):
                raise AnswersError(
                    f"has {len(columns)} columns, the lines before it {len(rows[0])}", file=place, line=number
                )
            rows.append(columns)
    documents = list(dataset.documents)
    if all(known is None for known, _ in blocks):
        if len(blocks) != len(documents):
            what = f"has {len(blocks)} documents, the dataset has {len(documents)}"
            raise AnswersError(what, file=place, remedy="Name each with a line `# document = ID` before it")
        blocks = [(document, rows) for document, (_, rows) in zip(documents, blocks, strict=True)]
    answers: dict[tuple[str, int], Answer] = {}
    for known, rows in blocks:
        if known is None:
            raise AnswersError("has documents with and without a name", file=place)
        if (known, 0) in answers:
            raise AnswersError(f"answers the document {known!r} a second time", file=place)
        record = dict(zip(("tokens", "level1", "level2"), map(list, zip(*rows, strict=True)), strict=False))
        answers[known, 0] = Answer(known, record=record)
    return AnswerSet(str(place), answers)
