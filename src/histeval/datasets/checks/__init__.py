"""Checks: every fault of a dataset at once, one file for each layout."""
