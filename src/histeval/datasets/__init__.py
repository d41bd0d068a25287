"""Datasets: documents and ground truth on disk."""

from histeval.datasets.base import Dataset, Document, Fault
from histeval.datasets.registry import load_dataset

__all__ = ["Dataset", "Document", "Fault", "load_dataset"]
