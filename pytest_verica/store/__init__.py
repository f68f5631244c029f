"""Saved runs and responses: the answers bought, the journal of each run, and the folder they stand in."""
