"""Entities: spans, tags, tokens, inline markup, chunk counting, projection."""
