"""Text: normalisation profiles, edit distance and ratio, alignment."""
