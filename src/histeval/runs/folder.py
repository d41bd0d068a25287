"""A run on disk: `run.json` says what was asked and how, `answers.jsonl` holds one line for each attempt.

Lines are only ever appended; the last line of a document (and repeat) counts. A line is on disk (fsync) before its
document counts as done, so that a run can be killed at any moment: what a torn last line held is asked again.
Reading what is done reads the head of each line (document, repeat, state, cost), never the answers.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from histeval.errors import AnswersError, OutputError, UsageError, printable
from histeval.runs.secrets import redact, secret_values
from histeval.tasks.base import FAILURES, Answer

RUN = "run.json"
ANSWERS = "answers.jsonl"
LOCK = ".lock"
FORMAT = 1

ANSWERED = "answered"
FAILED = "failed"
AGAIN = "again"
STATES = {
    ANSWERED: "an answer came back, whatever it is worth",
    FAILED: "the system failed on this document, and would again",
    AGAIN: "the system failed for a reason that passes, so that resuming asks again",
}

IDENTITY = ("task", "system", "dataset", "settings", "prompt", "role")
"""What two commands must agree on to write into one folder."""

_HEAD = re.compile(
    rb'\{"document": ("(?:[^"\\]|\\.)*"), "repeat": (\d+), "state": "(\w+)", "cost": (null|[-+.eE\d]+)[,}]'
)


@dataclass(frozen=True, slots=True)
class Done:
    """What the head of the last line of a document says: its state, its cost in US dollars, and where it lies."""

    state: str
    cost: float | None
    offset: int


def now() -> str:
    """The time as ISO text in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_run(folder: Path | str) -> dict[str, Any]:
    """What `run.json` says; raises AnswersError where it cannot be read."""
    file = Path(folder) / RUN
    try:
        run = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as fault:
        raise AnswersError(
            "cannot be read as the description of a run", file=file, remedy="Name a run folder."
        ) from fault
    if not isinstance(run, dict):
        raise AnswersError("holds no description of a run", file=file, remedy="Name a run folder.")
    return run


def is_run_folder(folder: Path | str) -> bool:
    """Whether this is a folder that `histeval run` wrote."""
    return (Path(folder) / RUN).is_file() and not Path(folder).is_file()


def read_answers(folder: Path | str, *, settled: bool = False) -> Iterator[Answer]:
    """The answers of a run, one for each document and repeat, in the order they came; a torn last line is left out.

    `settled` leaves out what failed for a passing reason. Raises AnswersError with file and line for a broken line.
    """
    file = Path(folder) / ANSWERS
    if not file.exists():
        read_run(folder)
        return
    heads = _read_heads(file)
    with file.open("rb") as stream:
        for (document, repeat), done in sorted(heads.items(), key=lambda item: item[1].offset):
            if settled and done.state == AGAIN:
                continue
            stream.seek(done.offset)
            yield _answer(document, repeat, _decode(stream.readline(), file))


def read_lines(folder: Path | str) -> Iterator[dict[str, Any]]:
    """The last line of each document and repeat as it stands in `answers.jsonl` (model, pages, tokens, ...)."""
    file = Path(folder) / ANSWERS
    if not file.exists():
        return
    heads = _read_heads(file)
    with file.open("rb") as stream:
        for done in sorted(heads.values(), key=lambda done: done.offset):
            stream.seek(done.offset)
            yield _decode(stream.readline(), file)


def _decode(line: bytes, file: Path) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise AnswersError("holds a line that is not JSON", file=file, remedy="Remove the broken line.") from fault
    if not isinstance(value, dict):
        raise AnswersError("holds a line that is not an object", file=file, remedy="Remove the broken line.")
    return value


def _answer(document: str, repeat: int, line: Mapping[str, Any]) -> Answer:
    error = line.get("error")
    detail = line.get("detail")
    if error == "provider_error" and detail:
        error = detail  # the provider's own words say more than the reason, which they imply
    usage = line.get("usage")
    text = line.get("text")
    return Answer(
        document=document,
        text=text if isinstance(text, str) else None,
        record=line.get("record"),
        error=error if isinstance(error, str) else None,
        repeat=repeat,
        finish=line.get("finish") if isinstance(line.get("finish"), str) else None,
        seconds=_number(line.get("seconds")),
        cost=_number(line.get("cost")),
        usage={
            str(key): value
            for key, value in (usage.items() if isinstance(usage, dict) else ())
            if isinstance(value, int) and not isinstance(value, bool)
        },
    )


def _number(value: Any) -> float | None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 2**53
    return float(value) if known else None  # NaN is no number either


def _repeats(run: Mapping[str, Any]) -> int:
    """The repeats that run.json names; 1 where somebody made something else of it."""
    value = run.get("repeats")
    return value if type(value) is int and value >= 1 else 1


def _texts(value: Any) -> list[str]:
    """The texts of a list in run.json."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []


def _read_heads(file: Path) -> dict[tuple[str, int], Done]:
    """The last head of each document and repeat; reads line by line, so that memory holds keys only."""
    heads: dict[tuple[str, int], Done] = {}
    offset = 0
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            start, offset = offset, offset + len(line)
            if not line.endswith(b"\n"):
                break  # torn: written by a process that was killed
            if not line.strip():
                continue
            document, repeat, state, cost = _head(line, file, number)
            heads[document, repeat] = Done(state, cost, start)
    return heads


def _head(line: bytes, file: Path, number: int) -> tuple[str, int, str, float | None]:
    match = _HEAD.match(line)
    try:
        if match:
            document, repeat, state, cost = match.groups()
            return json.loads(document), int(repeat), state.decode(), None if cost == b"null" else _number(float(cost))
        value = json.loads(line)  # edited by hand, or written by another program
        document, repeat = value["document"], value.get("repeat", 0)
        state = value.get("state") or (ANSWERED if value.get("error") is None else FAILED)
        if not isinstance(document, str) or not isinstance(repeat, int) or state not in STATES:
            raise ValueError("not a line of answers")
        return document, repeat, state, _number(value.get("cost"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise AnswersError(
            "is not an answer of a run", file=file, line=number, remedy="Remove the line; its document is asked again."
        ) from fault


class RunFolder:
    """A run folder open for writing; holds its lock until closed.

    `description` is the content of run.json: the keys of `IDENTITY`, and `documents` (ids asked for, None for all),
    `repeats`, `versions` and whatever else is worth keeping. Opening an existing folder resumes it, and raises
    UsageError where it belongs to another run, or is being written by another process.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "run"
    >>> with RunFolder(folder, {"task": "letters", "system": "recorded/a"}) as run:
    ...     run.append({"document": "letter01", "text": "{}", "cost": 0.5})
    ...     sorted(run.done), run.spent
    ([('letter01', 0)], 0.5)
    >>> [answer.text for answer in read_answers(folder)]
    ['{}']
    """

    def __init__(self, path: Path | str, description: Mapping[str, Any], *, secrets: Iterable[str] = ()) -> None:
        self.path = Path(path)
        self.secrets = secret_values(more=secrets)
        self.done: dict[tuple[str, int], Done] = {}
        self.spent = 0.0
        """Cost in US dollars of all attempts whose cost is known, those of earlier commands included."""
        self.resumed = False
        self.dropped = 0
        """Bytes of a torn last line that were cut off."""
        self._lock: BinaryIO | None = None
        self._stream: BinaryIO | None = None
        self._open(dict(description))

    def _open(self, description: dict[str, Any]) -> None:
        try:
            if self.path.exists() and not self.path.is_dir():
                raise UsageError(f"{self.path} is a file; name a folder for the run with --out")
            strangers = self.path.is_dir() and any(item.name != LOCK for item in self.path.iterdir())
            if strangers and not (self.path / RUN).is_file():
                raise UsageError(f"{self.path} is not empty and no run folder; name another folder with --out")
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = lock_folder(self.path)
            try:
                if (self.path / RUN).is_file():
                    self.resumed = True
                    self.description = self._merge(read_run(self.path), self._clean(description))
                else:
                    self.description = {"format": FORMAT, **self._clean(description), "start": now(), "end": None}
                self._read()
                self.save()
                # no buffer: what a full disk refused must not be written after all when the file is closed
                self._stream = (self.path / ANSWERS).open("ab", buffering=0)
                _sync_folder(self.path)
            except BaseException:
                self.close()
                raise
        except OSError as fault:
            raise OutputError(f"{self.path}: the run folder cannot be written: {fault.strerror or fault}") from fault

    def _clean(self, description: dict[str, Any]) -> dict[str, Any]:
        """The description as JSON gives it back (tuples become lists), without secrets."""
        cleaned: dict[str, Any] = redact(json.loads(json.dumps(description)), self.secrets)
        return cleaned

    def _merge(self, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        for key in IDENTITY:
            if key in new and old.get(key) != new[key]:
                raise UsageError(f"{self.path} holds another run: {_difference(key, old.get(key), new[key])}; "
                                 "name another folder with --out")  # fmt: skip
        merged = {**old, **{key: value for key, value in new.items() if value is not None}}
        asked = [run.get("documents") for run in (old, new)]
        every = any(not isinstance(ids, list) for ids in asked)
        merged["documents"] = None if every else list(dict.fromkeys(id for ids in asked for id in _texts(ids)))
        merged["repeats"] = max(_repeats(run) for run in (old, new))
        merged["notes"] = list(dict.fromkeys(note for run in (old, new) for note in _texts(run.get("notes"))))
        merged["start"], merged["end"] = old.get("start"), None
        return merged

    def _read(self) -> None:
        file = self.path / ANSWERS
        if not file.exists():
            return
        size = file.stat().st_size
        with file.open("rb") as stream:
            end = 0
            for number, line in enumerate(stream, start=1):
                if not line.endswith(b"\n"):
                    break
                start, end = end, end + len(line)
                if line.strip():
                    document, repeat, state, cost = _head(line, file, number)
                    self.done[document, repeat] = Done(state, cost, start)
                    self.spent += cost or 0.0
        if end < size:
            self.dropped = size - end
            os.truncate(file, end)

    def is_settled(self, document: str, repeat: int = 0) -> bool:
        """Whether this document needs no further asking."""
        done = self.done.get((document, repeat))
        return done is not None and done.state != AGAIN

    def append(self, *lines: Mapping[str, Any]) -> None:
        """Write attempts and wait until they are on disk.

        A line needs `document`; `repeat` (0), `state` (from `error`), `cost` (None) have defaults, and the rest is
        kept as given: text, record, error (a key of FAILURES), detail, finish, usage, seconds, model, ...
        """
        if self._stream is None:
            raise OutputError(f"{self.path}: the run folder is closed")
        heads, encoded = [], []
        for line in lines:
            if line.get("error") is not None and line["error"] not in FAILURES:
                raise ValueError(f"{line['error']!r} is no reason for a failure")
            state = line.get("state") or (ANSWERED if line.get("error") is None else FAILED)
            head = {
                "document": line["document"],
                "repeat": line.get("repeat", 0),
                "state": state,
                "cost": line.get("cost"),
            }
            body = redact({key: value for key, value in line.items() if key not in head}, self.secrets)
            heads.append(head)
            encoded.append(_encode({**head, "time": now(), **body}))
        start = self._stream.seek(0, os.SEEK_END)
        try:
            left = memoryview(b"".join(encoded))
            while left:
                left = left[self._stream.write(left) :]
            os.fsync(self._stream.fileno())
        except OSError as fault:
            with suppress(OSError):
                os.truncate(self.path / ANSWERS, start)  # no half line may stay before the next
            raise OutputError(f"{self.path / ANSWERS}: cannot be written: {fault.strerror or fault}") from fault
        for head, text in zip(heads, encoded, strict=True):
            self.done[head["document"], head["repeat"]] = Done(head["state"], head["cost"], start)
            self.spent += head["cost"] or 0.0
            start += len(text)

    def note(self, sentence: str) -> None:
        """Keep a sentence in run.json, once."""
        notes = self.description.setdefault("notes", [])
        cleaned = redact(sentence, self.secrets)
        if cleaned not in notes:
            notes.append(cleaned)
            self.save()

    def update(self, **values: Any) -> None:
        """Set keys of run.json and save it."""
        self.description.update(self._clean(values))
        self.save()

    def save(self) -> None:
        """Write run.json as a whole or not at all."""
        target, draft = self.path / RUN, self.path / f"{RUN}.part"
        try:
            with draft.open("w", encoding="utf-8", errors="backslashreplace") as stream:
                json.dump(self.description, stream, ensure_ascii=False, indent=2)
                stream.write("\n")
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(draft, target)
        except OSError as fault:
            raise OutputError(f"{target}: cannot be written: {fault.strerror or fault}") from fault

    def close(self) -> None:
        """Release the lock; appending afterwards is an error."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _encode(line: Mapping[str, Any]) -> bytes:
    """One line of JSON; lone surrogates, which UTF-8 cannot hold, are kept as escapes."""
    try:
        return (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8")
    except UnicodeEncodeError:
        return (json.dumps(line) + "\n").encode("ascii")


def _difference(key: str, old: Any, new: Any) -> str:
    """In words, what differs under `key`: the innermost value for objects."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            if old.get(name) != new.get(name):
                return _difference(f"{key} {name}", old.get(name), new.get(name))
    return printable(f"its {key} is {_short(old)}, not {_short(new)}")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."


def lock_folder(folder: Path, file: str = LOCK, what: str = "run folder") -> BinaryIO:
    """The folder's lock, which the system releases whenever the process ends, however it ends. Raises UsageError where
    another process holds it."""
    stream = (folder / file).open("ab")
    try:
        try:
            import fcntl
        except ImportError:  # Windows
            import msvcrt

            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as fault:
        stream.close()
        raise UsageError(
            f"another process is writing to the {what} {folder}; wait until it is done or name another with --out"
        ) from fault
    return stream


def _sync_folder(folder: Path) -> None:
    """Make the names of new files survive a power cut, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
