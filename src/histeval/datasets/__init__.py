"""Datasets: documents and ground truth on disk."""

from histeval.datasets.base import Dataset, Document, Fault
from histeval.datasets.importing import Imported, import_letters
from histeval.datasets.registry import check, load_dataset

__all__ = ["Dataset", "Document", "Fault", "Imported", "check", "import_letters", "load_dataset"]
