"""Numbers about verdicts: proportions and their intervals. Pure; every formula names its source."""
