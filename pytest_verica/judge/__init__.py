"""Judges: graders that ask a model. The instruction is the user's own; only the shape of the verdict is ours."""
