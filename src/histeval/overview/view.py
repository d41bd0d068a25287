"""A small server for the pages, on this machine only: some browsers forbid more to pages from a disk."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from histeval.errors import UsageError

HOST = "127.0.0.1"


class _Pages(SimpleHTTPRequestHandler):
    """Files of one folder, read only: no listings, no hidden files, nothing that a link leads out of the folder to."""

    server_version = "histeval"
    sys_version = ""

    def send_head(self) -> Any:
        """The file asked for, or 404."""
        asked = Path(self.translate_path(self.path))
        if not self._here() or any(part.startswith(".") for part in asked.parts[len(self._root().parts) :]):
            self.send_error(404)
            return None
        target = asked / "index.html" if asked.is_dir() else asked
        try:
            inside = target.resolve(strict=True).is_relative_to(self._root())
        except (OSError, RuntimeError, ValueError):
            inside = False
        if not inside or not target.is_file():
            self.send_error(404)
            return None
        return super().send_head()

    def _here(self) -> bool:
        """Whether the request names this machine: a page elsewhere that points its own name here gets nothing."""
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        return host in ("", HOST, "localhost")

    def _root(self) -> Path:
        return Path(self.directory)

    def end_headers(self) -> None:
        """Every answer may be used only as the kind of file it is said to be, and is asked for anew."""
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@dataclass(frozen=True)
class Serving:
    """A server that runs: its address, and `wait`, which returns when it stops."""

    url: str
    thread: threading.Thread

    def wait(self) -> None:
        """Waits for the end; the pause lets Ctrl-C through."""
        while self.thread.is_alive():
            self.thread.join(0.5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away in the middle of an answer."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serve(folder: Path | str, port: int = 0) -> Iterator[Serving]:
    """Serves the overview in `folder` on 127.0.0.1 while the context lasts; port 0 takes a free one.

    Raises UsageError where there is no overview or the port is taken.
    """
    root = Path(folder).resolve()
    if not (root / "index.html").is_file():
        raise UsageError(f"{folder} holds no overview (index.html); make one with `histeval overview`")
    if not 0 <= port < 65536:
        raise UsageError(f"a port is a number from 0 to 65535, not {port}")

    def pages(*args: Any, **named: Any) -> _Pages:
        return _Pages(*args, directory=str(root), **named)

    try:
        server = _Server((HOST, port), pages)
    except OSError as fault:
        raise UsageError(f"port {port} cannot be used: {fault.strerror or fault}; leave --port out") from fault
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Serving(f"http://{HOST}:{server.server_address[1]}/", thread)
    finally:
        server.shutdown()
        server.server_close()
