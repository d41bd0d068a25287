"""File names from names in data: safe on every system, readable, always the same for the same name."""

from __future__ import annotations

import hashlib
import re
import unicodedata

LONGEST = 48
_UNSAFE = re.compile(r"[^a-z0-9._-]+")
_DOTS = re.compile(r"\.{2,}")
_RESERVED = re.compile(r"(con|prn|aux|nul|index|com\d|lpt\d)(\..*)?")  # names that Windows or a web server keeps


def slug(name: str) -> str:
    """A name as a file name without its ending: letters, digits, `.`, `_`, `-`.

    A name that had to be changed ends in six digits of its SHA-256, so that two names never meet in one file, also
    where upper and lower case are one.

    >>> slug("letter01"), slug("../../etc/passwd"), slug("Brief 1")
    ('letter01', 'etc-passwd-3754d6', 'brief-1-a4fc7b')
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").lower()
    safe = _DOTS.sub(".", _UNSAFE.sub("-", plain)).strip("-._")[:LONGEST].strip("-._")
    if safe and safe == name and not _RESERVED.fullmatch(safe) and not _HASHED.search(safe):
        return safe
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{safe}-{digest}" if safe else digest


_HASHED = re.compile(r"-[0-9a-f]{6}$")  # a name that looks like one of ours gets its own digits too
