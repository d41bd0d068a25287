"""The overview: the static site that people look at."""
