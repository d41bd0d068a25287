"""Tasks: what is asked, the record an answer must give, and the scoring."""
