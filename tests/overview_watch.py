"""A browser window that notes everything a page must not do."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

HOOK = """
window.__said = [];
for (const name of ['alert', 'confirm', 'prompt', 'print', 'open'])
  window[name] = (...words) => { window.__said.push(name + ': ' + String(words[0]).slice(0, 80)); };
"""
FLAG = "hacked"
"""What hostile text tries to set on `window`."""


class Watch:
    """Pages of a browser context, watched: `faults` must stay empty."""

    def __init__(self, context: Any) -> None:
        self.faults: list[str] = []
        self.root: Path | None = None
        context.add_init_script(HOOK)
        context.set_default_timeout(15_000)
        self.page = context.new_page()
        context.on("page", lambda page: self._note(f"a window opened: {page.url}"))
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self._note(f"page error: {error}"))
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)

    def _note(self, fault: str) -> None:
        self.faults.append(f"{self.page.url[-80:]}: {fault}")

    def _failed(self, request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # what leaving a page before a lazy image has come is called
            self._note(f"failed request: {request.failure}: {request.url[:200]}")

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning", "assert"):
            self._note(f"console {message.type}: {message.text[:300]}")

    def _dialog(self, dialog: Any) -> None:
        self._note(f"dialog: {dialog.message[:80]}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme == "data":
            return
        inside = address.scheme == "file" and not address.netloc
        if inside and self.root is not None:
            inside = Path(unquote(address.path)).resolve().is_relative_to(self.root.resolve())
        if not inside:
            self._note(f"request that leaves the site: {request.url[:200]}")

    def open(self, root: Path, path: str = "index.html", fragment: str = "") -> Any:
        """Opens a page of the site in `root` from the disk."""
        self.root = root
        self.page.goto((root / path).resolve().as_uri() + (f"#{fragment}" if fragment else ""))
        self.check()
        return self.page

    def check(self) -> None:
        """Notes where foreign code has run in the page."""
        said = self.page.evaluate(f"[window.__said || [], typeof window.{FLAG}]")
        if said != [[], "undefined"]:
            self._note(f"foreign code ran: {said}")

    def here(self) -> str:
        """The path of the page within the site."""
        assert self.root is not None
        found = Path(unquote(urlsplit(self.page.url).path))
        return found.resolve().relative_to(self.root.resolve()).as_posix()
