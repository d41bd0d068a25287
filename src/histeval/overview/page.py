"""What every page of the site has: its place, the way to it, the neighbours; and the templates that draw it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from histeval._version import version
from histeval.errors import MissingExtraError

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step of the way to a page, or a neighbouring page; `href` is empty for the page itself."""

    label: str
    href: str = ""
    current: bool = False


@dataclass(frozen=True)
class Page:
    """Given to every template as `page`. `root` leads from the page to the folder with `assets` ("", "../", ...)."""

    root: str
    trail: tuple[Crumb, ...] = ()
    sections: tuple[Crumb, ...] = ()
    footer: str = ""


@dataclass(frozen=True)
class Links:
    """The way from a document's page to all others of its dataset; every address is relative and safe.

    `page` goes to the template as `page`. `runs` and `documents` give addresses by run and by document id, `worst` the
    documents by their mean score, the worst first (for "next worst"). `data` is the address of the page's data script
    and `images` the way to the folder of images.
    """

    page: Page
    leaderboard: str
    doubts: str
    runs: Mapping[str, str]
    documents: Mapping[str, str]
    worst: tuple[str, ...] = ()
    data: str = ""
    images: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    """What a run is called on the pages, by run."""


def footer() -> str:
    """The line at the foot of every page. It says no date, so that an unchanged page stays the same file."""
    made = f"Made by Histeval {version()} from the answers themselves"
    return f"{made}; every number can be recomputed with histeval score."


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates: everything is escaped, and a missing name is an error. Raises MissingExtraError without jinja2."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("the overview needs jinja2: pip install 'histeval[overview]'") from None
    made = Environment(
        loader=PackageLoader("histeval.overview", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["number"] = number
    made.filters["percent"] = percent
    made.filters["clean"] = clean
    made.filters["counted"] = counted
    return made


def render(template: str, page: Page, /, **values: Any) -> str:
    """A template of this room as HTML."""
    return environment().get_template(template).render(page=page, **values)


def number(value: float | None, digits: int = 3) -> str:
    """A number for people; a dash where it is undefined.

    >>> number(0.91284), number(None)
    ('0.913', '–')
    """
    return "–" if value is None else f"{value:.{digits}f}"


def counted(count: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "document"), counted(2, "run")
    ('1 document', '2 runs')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def percent(value: float | None) -> str:
    """A share for people.

    >>> percent(0.125)
    '12.5 %'
    """
    return "–" if value is None else f"{100 * value:.1f} %"


# Controls, soft hyphen, direction signs, blanks without width, separators, tags, lone surrogates.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


def clean(text: object) -> str:
    """Text of a file as it may stand on a page: control and direction signs become visible escapes.

    Line ends and tabs stay, and so do letters of the private use area (MUFI) and the joiners that Persian and Indic
    scripts write with. HTML is not escaped here, the templates do that.

    >>> clean("a\\x00b\\u202ec")
    'a\\\\x00b\\\\u202ec'
    """
    return _HIDDEN.sub(lambda match: ascii(match[0])[1:-1], str(text))


def script(name: str, value: Any) -> str:
    """A data file as a script, since pages opened from a disk may not fetch: `histeval.NAME = VALUE`.

    The value is JSON in pure ASCII with `<` and `>` escaped too: it holds no closing tag, no line separator and no
    direction sign, whatever is in it.

    >>> script("data", {"a": "</script>"})
    'window.histeval = window.histeval || {};\\nwindow.histeval.data = {"a":"\\\\u003c/script\\\\u003e"};\\n'
    """
    return f"window.histeval = window.histeval || {{}};\nwindow.histeval.{name} = {inert_json(value)};\n"


def inert_json(value: Any) -> str:
    """JSON that may stand in a script or in a page: pure ASCII, never NaN, `<`, `>` and `&` escaped."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
