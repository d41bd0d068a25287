"""One fit in a process of its own: `python -m histeval.systems.taggers.worker FOLDER`.

A process of its own lets two fits run beside each other, gives memory back when it ends, and makes crfsuite repeatable.
FOLDER holds job.json (see `Job`); the results are written beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from histeval.errors import HistevalError, SystemFault
from histeval.systems.taggers.folder import pack_arrays

JOB, FAILED, SAID = "job.json", "failed.json", "stderr.txt"
CRF, LEXICON, NETWORK, VOCABULARY = "model.crfsuite", "lexicon.json", "network.npz", "vocabulary.json"


def member_file(member: int) -> str:
    """The file of a CRF of a model: that of the first has the plain name."""
    return CRF if member == 1 else CRF.replace(".", f"-{member}.")


@dataclass(frozen=True)
class Job:
    """One fit: `kind` is crf or bilstm; tokens, line breaks and labels by text; the label set in order.

    `kinds` are the labels without prefixes, for the lexicon; `groups` and `weights` those of the hierarchical loss;
    `member` counts the CRFs of a model from 1.
    """

    kind: str
    words: Sequence[Sequence[str]]
    breaks: Sequence[Sequence[bool]]
    labels: Sequence[Sequence[str]]
    kinds: Sequence[Sequence[str]]
    label_set: Sequence[str]
    seed: int
    epochs: int | None = None
    groups: Sequence[Sequence[int]] = ()
    weights: Sequence[float] = ()
    member: int = 1


def run_jobs(
    jobs: Sequence[tuple[Job, Path]], workers: int, report: Callable[[str], None] | None = None
) -> list[float]:
    """Run fits, at most `workers` at once, each with a folder that exists; gives the seconds each took.

    Raises what a fit raised (a HistevalError with its sentence), or SystemFault where a fit was ended from outside.
    """
    waiting = list(enumerate(jobs))
    running: dict[int, tuple[subprocess.Popen[bytes], float]] = {}
    seconds = [0.0] * len(jobs)
    try:
        while waiting or running:
            while waiting and len(running) < max(1, workers):
                number, (job, folder) = waiting.pop(0)
                try:
                    (folder / JOB).write_text(json.dumps(asdict(job), ensure_ascii=True), encoding="ascii")
                    running[number] = (_start(folder), time.monotonic())
                except OSError as fault:
                    raise SystemFault(f"the {job.kind} fit could not be begun in {folder.parent}: {fault}") from None
            for number, (process, begin) in list(running.items()):
                status = process.poll()
                if status is None:
                    continue
                del running[number]
                seconds[number] = time.monotonic() - begin
                if status:
                    raise _fault(jobs[number][1], jobs[number][0].kind, status)
                if report is not None:
                    report(f"{jobs[number][0].kind} fitted in {seconds[number]:.0f} s")
            if running:
                time.sleep(0.05)
    finally:
        for process, _ in running.values():
            process.kill()
            process.wait()
    return seconds


def _start(folder: Path) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join(path for path in sys.path if path)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with open(folder / SAID, "wb") as said:
        return subprocess.Popen(
            # -P: else a file random.py in the working folder would be imported for the module of that name.
            [sys.executable, "-P", "-m", __spec__.name, str(folder)],
            env={**os.environ, **threads, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )


def _fault(folder: Path, kind: str, status: int) -> HistevalError:
    try:
        failed = json.loads((folder / FAILED).read_text(encoding="utf-8"))
        return SystemFault(f"the {kind} fit failed: {failed['message']}")
    except (OSError, ValueError):  # ended before it could say why, or there was no room to write it
        pass
    if status < 0:
        return SystemFault(f"the {kind} fit was ended by the system (signal {-status}); is there enough memory?")
    said = (folder / SAID).read_text(encoding="utf-8", errors="replace") if (folder / SAID).is_file() else ""
    last = " ".join(said.strip().rpartition("\n")[2].split())[:200]
    room = f"; is there room on the disk of {folder.parent}?"
    return SystemFault(f"the {kind} fit failed (status {status}){': ' + last if last else room}")


def perform(folder: Path) -> None:
    """Do the job of a folder and write its results there."""
    job = json.loads((folder / JOB).read_text(encoding="ascii"))
    if job["kind"] == "crf":
        _perform_crf(folder, job)
    else:
        _perform_network(folder, job)


def _perform_crf(folder: Path, job: dict[str, Any]) -> None:
    from histeval.systems.taggers import crf
    from histeval.systems.taggers.features import crf_features, lexicon

    words_of = lexicon(job["words"], job["kinds"])
    words, breaks = job["words"], job["breaks"]
    crf.fit(
        lambda text: crf_features(words[text], breaks[text], words_of),
        job["labels"],
        folder / member_file(job["member"]),
        seed=job["seed"],
        member=job["member"],
        epochs=job["epochs"] or crf.EPOCHS,
    )
    (folder / LEXICON).write_text(json.dumps(words_of, ensure_ascii=True), encoding="ascii")


def _perform_network(folder: Path, job: dict[str, Any]) -> None:
    from histeval.systems.taggers import network
    from histeval.systems.taggers.features import network_features

    rows = [network_features(words, breaks) for words, breaks in zip(job["words"], job["breaks"], strict=True)]
    numbers = {label: number for number, label in enumerate(job["label_set"])}
    vocabulary, weights = network.fit(
        rows,
        [[numbers[label] for label in labels] for labels in job["labels"]],
        len(numbers),
        seed=job["seed"],
        epochs=job["epochs"] or network.EPOCHS,
        groups=job["groups"],
        weights=tuple(job["weights"]),
    )
    (folder / NETWORK).write_bytes(pack_arrays(weights))
    (folder / VOCABULARY).write_text(json.dumps(vocabulary, ensure_ascii=True), encoding="ascii")


def _end_with_parent(parent: int) -> None:
    """End this process when the one that waits for it is gone, since nobody would read the results."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> int:
    """Perform the job of the folder in the first argument; a failure is written down for the process that waits."""
    folder = Path(sys.argv[1])
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    try:
        perform(folder)
    except Exception as fault:
        message = str(fault) if isinstance(fault, HistevalError) else f"{type(fault).__name__}: {fault}"
        (folder / FAILED).write_text(json.dumps({"message": message}), encoding="utf-8")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
