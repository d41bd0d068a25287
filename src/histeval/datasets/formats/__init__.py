"""Formats of other programs: reading them into datasets and answers, and writing them."""

from histeval.datasets.formats.base import Format, ImportReport, Option, Options, Source
from histeval.datasets.formats.registry import FORMATS, MODELS, find_format, format_named

__all__ = ["FORMATS", "MODELS", "Format", "ImportReport", "Option", "Options", "Source", "find_format", "format_named"]
