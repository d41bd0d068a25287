"""Plots: each as SVG for the page, as PNG for papers, and its data as CSV."""

from histeval.overview.plots.draw import KINDS, Figure, draw

__all__ = ["KINDS", "Figure", "draw"]
