"""Run against run: which cases can be held against each other, what changed, and which verdicts flipped."""
