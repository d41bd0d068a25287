"""The version of the installed package."""

from __future__ import annotations

from functools import cache


@cache
def version() -> str:
    """The version, from the package's metadata."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("histeval")
    except PackageNotFoundError:  # a source tree that was never installed
        return "unknown"
