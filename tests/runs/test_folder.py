"""A run on disk survives torn lines, second processes, other datasets, and never holds a key."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.errors import AnswersError, OutputError, UsageError
from histeval.runs.folder import AGAIN, RunFolder, read_answers, read_lines, read_run
from histeval.runs.secrets import is_secret_name, redact, secret_values
from support import examples

RUN = {
    "task": "letters",
    "system": "openai/some-model",
    "dataset": {"name": "business_letters", "fingerprint": "ab" * 32},
    "settings": {"temperature": 0.0},
    "prompt": {"name": "letters", "sha256": "cd" * 32},
}


def test_the_last_line_of_a_document_counts(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", RUN) as run:
        run.append({"document": "a", "error": "provider_error", "detail": "status 500", "state": AGAIN, "cost": 0.25})
        assert not run.is_settled("a")
        run.append({"document": "b", "text": "{}"}, {"document": "a", "text": "[1]", "cost": 0.5, "usage": {"in": 3}})
        assert run.is_settled("a")
        assert run.is_settled("b")
        assert run.spent == 0.75
    answers = {answer.document: answer for answer in read_answers(tmp_path / "run")}
    assert answers["a"].text == "[1]"
    assert answers["a"].error is None
    assert answers["a"].usage == {"in": 3}
    assert answers["a"].cost == 0.5
    assert len(answers) == 2


def test_repeats_are_kept_apart(tmp_path: Path) -> None:
    with RunFolder(tmp_path, RUN) as run:
        run.append({"document": "a", "text": "0"}, {"document": "a", "repeat": 1, "text": "1"})
    assert [(answer.repeat, answer.text) for answer in read_answers(tmp_path)] == [(0, "0"), (1, "1")]


def test_a_failure_keeps_the_words_of_the_provider(tmp_path: Path) -> None:
    with RunFolder(tmp_path, RUN) as run:
        run.append({"document": "a", "error": "provider_error", "detail": "image too large"})
        run.append({"document": "b", "error": "refused", "detail": "content_filter", "text": "I cannot"})
        with pytest.raises(ValueError, match="no reason"):
            run.append({"document": "c", "error": "tired"})
    answers = {answer.document: answer for answer in read_answers(tmp_path)}
    assert answers["a"].error == "image too large"
    assert answers["b"].error == "refused"
    assert answers["b"].text == "I cannot"
    assert "c" not in answers


@pytest.mark.parametrize("cut", [1, 5, 20, 60])
def test_a_torn_last_line_is_dropped_and_its_document_asked_again(tmp_path: Path, cut: int) -> None:
    with RunFolder(tmp_path, RUN) as run:
        run.append({"document": "a", "text": "whole"})
        run.append({"document": "b", "text": "torn"})
    file = tmp_path / "answers.jsonl"
    file.write_bytes(file.read_bytes()[:-cut])
    assert [answer.document for answer in read_answers(tmp_path)] == ["a"]
    with RunFolder(tmp_path, RUN) as run:
        assert run.dropped > 0
        assert run.is_settled("a")
        assert not run.is_settled("b")
        run.append({"document": "b", "text": "again"})
    assert [answer.text for answer in read_answers(tmp_path)] == ["whole", "again"]


def test_a_broken_line_inside_is_named(tmp_path: Path) -> None:
    with RunFolder(tmp_path, RUN) as run:
        run.append({"document": "a", "text": "1"})
    file = tmp_path / "answers.jsonl"
    file.write_bytes(b"nonsense\n" + file.read_bytes())
    with pytest.raises(AnswersError, match=r"answers\.jsonl, line 1"):
        list(read_answers(tmp_path))
    with pytest.raises(AnswersError, match="line 1"):
        RunFolder(tmp_path, RUN)


def test_a_line_with_other_key_order_is_read(tmp_path: Path) -> None:
    with RunFolder(tmp_path, RUN) as run:
        run.append({"document": "a", "text": "1"})
    with (tmp_path / "answers.jsonl").open("a") as stream:
        stream.write('{"text": "by hand", "document": "b"}\n')
    assert [answer.text for answer in read_answers(tmp_path)] == ["1", "by hand"]
    with RunFolder(tmp_path, RUN) as run:
        assert run.is_settled("b")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"dataset": {"name": "business_letters", "fingerprint": "ef" * 32}}, "fingerprint"),
        ({"settings": {"temperature": 0.7}}, "temperature"),
        ({"prompt": {"name": "letters", "sha256": "00" * 32}}, "sha256"),
        ({"system": "openai/other"}, "other"),
        ({"task": "manuscripts"}, "manuscripts"),
    ],
)
def test_another_run_does_not_enter_the_folder(tmp_path: Path, change: dict[str, object], word: str) -> None:
    with RunFolder(tmp_path, RUN) as run:
        run.append({"document": "a", "text": "1"})
    with pytest.raises(UsageError, match=word) as caught:
        RunFolder(tmp_path, {**RUN, **change})
    assert str(caught.value).count("\n") == 0
    with RunFolder(tmp_path, RUN) as run:  # and it left no lock behind
        assert run.is_settled("a")


def test_a_second_process_is_told_so(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom histeval.runs.folder import RunFolder\nfrom histeval.errors import UsageError\n"
        "try:\n    RunFolder(sys.argv[1], {'task': 'letters'})\nexcept UsageError as error:\n    print(error)\n"
    )
    with RunFolder(tmp_path, RUN):
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "another process" in done.stdout
    with RunFolder(tmp_path, RUN):
        pass


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("important")
    with pytest.raises(UsageError, match="not empty"):
        RunFolder(tmp_path, RUN)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["thesis.txt"]
    with pytest.raises(UsageError, match="is a file"):
        RunFolder(tmp_path / "thesis.txt", RUN)


def test_documents_asked_for_are_joined_when_resuming(tmp_path: Path) -> None:
    with RunFolder(tmp_path, {**RUN, "documents": ["a", "b"]}):
        pass
    with RunFolder(tmp_path, {**RUN, "documents": ["b", "c"], "repeats": 3}):
        pass
    assert read_run(tmp_path)["documents"] == ["a", "b", "c"]
    assert read_run(tmp_path)["repeats"] == 3
    with RunFolder(tmp_path, {**RUN, "documents": None}):
        pass
    assert read_run(tmp_path)["documents"] is None


def test_a_full_disk_is_one_sentence_and_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunFolder(tmp_path, RUN) as run:
        run.append({"document": "a", "text": "1"})

        def full(handle: int) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(OutputError, match="No space left"):
                run.append({"document": "b", "text": "2"})
        assert not run.is_settled("b")
        run.append({"document": "c", "text": "3"})
    assert [answer.document for answer in read_answers(tmp_path)] == ["a", "c"]


def test_keys_never_reach_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret, other, named = "k3y-from-the-environment/+", "token-value-of-hub", "key-given-in-a-file"
    monkeypatch.setenv("SOME_API_KEY", secret)
    monkeypatch.setenv("HUB_TOKEN", other)
    with RunFolder(tmp_path, {**RUN, "note": f"used {secret}"}, secrets=[named]) as run:
        run.append({"document": "a", "error": "provider_error", "detail": f"401: {secret} is wrong", "more": [other]})
        run.append({"document": "b", "text": f"the key is {named}, or k3y-from-the-environment%2F%2B"})
        run.note(f"retried with {other}")
        run.update(model=f"model {secret}")
    written = "".join(file.read_text() for file in tmp_path.rglob("*") if file.is_file())
    for value in (secret, other, named, "k3y-from-the-environment"):
        assert value not in written
    assert written.count("[key removed]") >= 6


def test_what_looks_like_a_key() -> None:
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "apikey", "DB_PASSWORD", "Authorization"):
        assert is_secret_name(name), name
    for name in ("max_tokens", "reasoning_tokens", "MONKEY", "temperature", "KEYBOARD", "HOME"):
        assert not is_secret_name(name), name
    assert secret_values({"A_KEY": "short", "B_KEY": "long enough", "HOME": "long enough too"}) == (
        "long%20enough",
        "long enough",
    )
    assert redact("Authorization: Bearer abcdefghijklmnop1234", ()) == "Authorization: [key removed]"


texts = st.text(st.characters(), max_size=30)


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", 'b"\\', "c\u2028\n", "ä"]), st.integers(0, 1), texts), max_size=8))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, attempts: list[tuple[str, int, str]]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    expected: dict[tuple[str, int], str] = {}
    for document, repeat, text in attempts:
        with RunFolder(folder, RUN) as run:
            run.append({"document": document, "repeat": repeat, "text": text})
        expected.pop((document, repeat), None)
        expected[document, repeat] = text
    with RunFolder(folder, RUN) as run:
        assert set(run.done) == set(expected)
    # the slow twin: every line decoded as a whole
    lines = [json.loads(line) for line in (folder / "answers.jsonl").read_bytes().split(b"\n") if line]
    assert {(line["document"], line["repeat"]): line["text"] for line in lines} == expected
    assert [(a.document, a.repeat, a.text) for a in read_answers(folder)] == [(*k, v) for k, v in expected.items()]
    assert [line["text"] for line in read_lines(folder)] == list(expected.values())
