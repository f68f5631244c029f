"""Graders: one file per kind, each pure: (case, output) -> grade. Never a network call, never pytest."""
