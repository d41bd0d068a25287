"""The demo goes the whole way, and a second time asks nothing."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from histeval.cli.app import run


@pytest.mark.parametrize("task", ["letters", "manuscripts", "directories"])
def test_the_whole_way_offline_and_again(
    task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = socket.socket.connect

    def only_loopback(self: socket.socket, address: object) -> None:
        assert self.family == socket.AF_UNIX or (isinstance(address, tuple) and address[0] in ("127.0.0.1", "::1")), (
            address
        )
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", only_loopback)
    assert run(["demo", task, "--out", str(tmp_path / "demo")]) == 0
    out = capsys.readouterr().out
    for words in ("invented", "careful", "hasty", f"{task}|documented|demo_{task}@", "p corrected"):
        assert words in out
    assert (tmp_path / "demo" / "overview" / "index.html").is_file()
    assert run(["demo", task, "--out", str(tmp_path / "demo")]) == 0
    again = capsys.readouterr().out
    assert "; 0 asked now" in again
    assert not [line for line in again.splitlines() if " asked now" in line and "; 0 asked now" not in line]
