"""Systems: what answers."""
