"""A browser window that notes everything a page must not do, and what tests read of a leaderboard in it."""

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
        context.set_default_timeout(60_000)
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


MAIN = "table[data-board=main]"
ROWS = """table => Array.from(table.tBodies[0].rows).map(row => ({
  hidden: row.hidden || row.offsetParent === null, provider: row.dataset.provider, date: row.dataset.date,
  failed: Number(row.dataset.failed), text: row.innerText.toLowerCase(), top: row.classList.contains('top'),
  run: row.querySelector('a').getAttribute('href').split('/').pop().replace('.html', ''),
  keys: Array.from(row.cells).map(
    cell => cell.hasAttribute('data-v') ? cell.getAttribute('data-v') : cell.innerText.trim())
}))"""


def rows_of(page: Any, selector: str = MAIN) -> list[dict[str, Any]]:
    """The rows of a table as the browser shows them now."""
    return page.locator(selector).first.evaluate(ROWS)  # type: ignore[no-any-return]


def shown(page: Any) -> list[dict[str, Any]]:
    """The rows of the leaderboard that are not filtered out."""
    return [row for row in rows_of(page) if not row["hidden"]]


def is_sorted(keys: list[str], descending: bool) -> bool:
    """Whether sort keys stand in order, missing ones last."""
    known = [key for key in keys if key not in ("", "–")]
    if keys[: len(known)] != known:
        return False
    try:
        values: list[Any] = [float(key) for key in known]
    except ValueError:
        values = [key.casefold() for key in known]
    return values == sorted(values, reverse=descending)


def press_tab_until(page: Any, wanted: str, most: int = 80) -> None:
    """Tab by tab to the first element that `wanted` selects; it must be visible and show that it has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
            seen = page.evaluate(
                """() => { const e = document.activeElement, s = getComputedStyle(e), b = e.getBoundingClientRect();
                return [b.width > 0 && b.height > 0, s.outlineStyle !== 'none' || s.boxShadow !== 'none']; }"""
            )
            assert seen == [True, True], wanted
            return
    raise AssertionError(f"no way by keyboard to {wanted}")
