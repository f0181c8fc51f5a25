"""Studies: which judge to trust, and how to read it."""
