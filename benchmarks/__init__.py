"""Histeval measured beside its peers: `python -m benchmarks`."""
