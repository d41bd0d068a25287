"""Runs: answers on disk, their scores, their signatures."""
