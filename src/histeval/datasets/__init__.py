"""Datasets: documents and ground truth on disk."""
