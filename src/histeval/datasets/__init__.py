"""Datasets: documents and ground truth on disk."""

from histeval.datasets.base import Dataset, Document, Fault
from histeval.datasets.formats import ImportReport
from histeval.datasets.importing import Imported, import_letters
from histeval.datasets.initialise import Initialised, initialise
from histeval.datasets.registry import check, load_dataset
from histeval.datasets.transfer import export_dataset, import_answers, import_dataset

__all__ = [
    "Dataset",
    "Document",
    "Fault",
    "ImportReport",
    "Imported",
    "Initialised",
    "check",
    "export_dataset",
    "import_answers",
    "import_dataset",
    "import_letters",
    "initialise",
    "load_dataset",
]
