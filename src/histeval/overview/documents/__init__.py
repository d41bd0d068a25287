"""The page of one document: its images, its ground truth, and what every system answered."""

from histeval.overview.documents.numbers import document_numbers, document_value
from histeval.overview.documents.page import document_data, document_page

__all__ = ["document_data", "document_numbers", "document_page", "document_value"]
