"""The commands and what each is for; their code is imported only when they are called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from cyclopts import App, CycloptsError

from histeval._version import version
from histeval.errors import HistevalError

INTERNAL = "a fault of Histeval itself, please report it"

COMMANDS = {
    "tasks": ("catalogue:tasks", "Tasks, metrics, protocols and their rules."),
    "get": ("documents:get", "Fetch a published dataset; every file is checked, an interrupted fetch goes on."),
    "init": ("transfer:init", "Make a dataset of a folder of images or texts: description, empty truth, next steps."),
    "import": ("transfer:import_", "Make a dataset (or answers) from files of other programs."),
    "export": ("transfer:export", "Write a dataset (or answers) in a format of other programs."),
    "check": ("documents:check", "List every fault of a dataset: file, line, what, remedy."),
    "run": ("asking:run", "Ask systems about the documents of a dataset; resumes; then scores."),
    "train": ("training:train", "Train a tagger for nested entities."),
    "evaluate": ("training:evaluate", "The honest score of a tagger: each book left out in turn."),
    "score": ("scoring:score", "Score answers under a protocol: every number with its interval and signature."),
    "project": ("training:project", "Carry annotations onto another text of the same entries (OCR, say)."),
    "merge": ("scaling:merge", "Merge the files of a scoring in shards into its scores."),
    "compare": ("scoring:compare", "Compare systems: differences with intervals and corrected p-values."),
    "overview": ("publishing:overview", "Build static pages: leaderboards, runs, every document with its differences."),
    "view": ("publishing:view", "Open an overview in the browser, served on this machine only."),
    "demo": ("demonstration:demo", "The whole way on the bundled datasets, offline."),
}

TASK_FIRST = ("score", "compare", "run", "import", "export", "train", "evaluate", "init")
"""The commands whose first word is the task."""

RESUMES = ("get", "run", "overview", "demo")
"""The commands that keep what was done when they are stopped; a grid of taggers does, too."""


def build() -> App:
    """The command line as a cyclopts app."""
    app = App(
        name="histeval",
        help="Which system reads my historical documents best, how sure is that, and why does it fail?",
        version=version,
        version_flags=["--version"],
        suppress_keyboard_interrupt=False,  # `run` says in a sentence what Ctrl-C leaves
    )
    for name, (place, text) in COMMANDS.items():
        app.command(f"histeval.cli.{place}", name=name, help=text)
    return app


def run(words: Sequence[str]) -> int:
    """Runs a command line; gives the exit status. Faults of use and input become one sentence on standard error."""
    if isinstance(sys.stdout, TextIOWrapper):
        # lone surrogates are written as \\udXXX, which is what they are in JSON too
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        result = build()(list(words), exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except CycloptsError as fault:
        return _refuse(" ".join(str(fault).split()) + _task_left_out(words))
    except HistevalError as fault:
        return _refuse(str(fault))
    except BrokenPipeError:
        # the reader of a pipe (head, say) went away: not our fault, and nothing more to say to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as fault:
        from histeval.datasets.files import reason, shown

        return _refuse(f"{shown(fault.filename) if fault.filename else 'the output'}: {reason(fault)}")
    except MemoryError:
        return _refuse("the memory of this machine does not suffice for this input")
    except Exception as fault:
        if os.environ.get("HISTEVAL_TRACEBACK"):
            raise
        return _refuse(f"{INTERNAL}: {type(fault).__name__}: {fault}. With HISTEVAL_TRACEBACK=1 it says where")
    except KeyboardInterrupt:
        ahead = "goes on where it was" if words and (words[0] in RESUMES or "--grid" in words) else "begins anew"
        print(f"histeval: stopped; the same command {ahead}", file=sys.stderr)
        return 130


def _task_left_out(words: Sequence[str]) -> str:
    """What to add where a command that begins with its task was given a dataset in the task's place."""
    from histeval.tasks import get_task, task_names

    if len(words) < 2 or words[0] not in TASK_FIRST or words[1].startswith("-"):
        return ""
    known = [*task_names(), *(get_task(name).alias for name in task_names())]
    if words[1] in known or not os.path.exists(words[1]):
        return ""
    return f" The task comes first: histeval {words[0]} {'|'.join(task_names())} {words[1]} ..."


def _refuse(sentence: str) -> int:
    """Says one sentence, control characters escaped, since it may quote a file."""
    safe = "".join(c if c.isprintable() or c == " " else ascii(c)[1:-1] for c in sentence)
    print(f"histeval: {safe}", file=sys.stderr)
    return 2
