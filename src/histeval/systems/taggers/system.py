"""Trained taggers as systems: `crf/MODEL`, `bilstm/MODEL`, `crf+bilstm/MODEL`, `transformer/MODEL`."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from histeval.datasets.base import Document
from histeval.entities.spans import Entry
from histeval.errors import UsageError
from histeval.systems.base import Request
from histeval.systems.taggers.folder import check_grammar
from histeval.systems.taggers.tagger import Tagger, load_tagger
from histeval.tasks.base import Answer

BATCH = 256
"""How many documents are tagged at once: enough to be fast, few enough to lose little when a run is stopped."""


class TaggerSystem:
    """A tagger that answers documents of a dataset of directories; `documents` are looked up in its training texts."""

    def __init__(self, name: str, tagger: Tagger, documents: Iterable[Document] = ()) -> None:
        self.name, self._tagger = name, tagger
        texts = [document.text for document in documents if document.text]
        self._texts, self._seen = len(texts), sum(tagger.was_trained_on(text) for text in texts)
        chosen = ("system", "approach", "scheme", "tokens", "texts", "rows", "noise", "seed")
        self.settings: dict[str, Any] = {key: tagger.settings.get(key) for key in chosen}
        self.settings["model"] = tagger.settings["checksum"]
        self.about: dict[str, Any] = {
            "versions": tagger.settings.get("versions"),
            "training": tagger.settings.get("training"),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader of its scores should know."""
        found = []
        if self._tagger.tokens == "published":
            found.append(
                "published tokens end at the tags of the ground truth, as in the published benchmark; "
                "a model trained with plain tokens sees the text alone"
            )
        if self._tagger.settings["approach"] == "flat":
            found.append("a flat tagger says nothing of the levels; of its scores only Flat has a meaning")
        if self._seen:
            found.append(
                f"{self._seen} of {self._texts} texts are among those that the model was trained on; what it makes of "
                "them says little of texts that it has not seen"
            )
        if self._tagger.truncated:
            found.append(f"{self._tagger.truncated} tokens lay beyond what the backbone can read")
        return tuple(found)

    def answer(self, document: Document, repeat: int = 0) -> Answer:
        """The answer to one document."""
        return next(iter(self.answer_many([document])))

    def answer_many(self, documents: Sequence[Document]) -> Iterable[Answer]:
        """Answers to documents in their order."""
        for start in range(0, len(documents), BATCH):
            part = documents[start : start + BATCH]
            begin = time.perf_counter()
            with _uncollected():
                records = self._tagger.tag([self._read(document) for document in part])
            seconds = (time.perf_counter() - begin) / len(part)
            for document, record in zip(part, records, strict=True):
                yield Answer(document.id, record=record, seconds=round(seconds, 6))

    def _read(self, document: Document) -> str | Entry:
        # Only a model of published tokens may see where the text nodes of the truth end; its notes say that it does.
        if self._tagger.tokens == "published" and isinstance(document.truth, Entry):
            return Entry(document.truth.text, document.truth.spans, document.truth.nodes)
        if document.text is None:
            raise UsageError(f"document {document.id} has no text to tag")
        return document.text


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keeps Python from looking for cycles, of which tagging makes none, among the millions of features of a batch."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def open_system(name: str, request: Request) -> TaggerSystem:
    """The tagger called `name` (`crf/MODEL`) for a dataset; raises ModelError where it was trained for another one's
    types, UsageError where the model is another kind of tagger than the name says."""
    prefix, _, place = name.partition("/")
    if request.task.name != "directories":
        raise UsageError(f"{name} tags directory entries; it cannot answer {request.task.name}")
    if not place:
        raise UsageError(f"{name!r} names no model; write {prefix}/MODEL with the folder that `histeval train` made")
    tagger = load_tagger(Path(place))
    if tagger.settings["system"] != prefix:
        raise UsageError(f"{place} is a {tagger.settings['system']} model; write {tagger.settings['system']}/{place}")
    check_grammar(tagger.types, request.dataset.description.types, place)
    return TaggerSystem(name, tagger, request.dataset.documents.values())
