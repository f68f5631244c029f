"""Sampling and grading ahead of whoever waits: calls, limits, retries. Knows only the grader and provider protocols."""
