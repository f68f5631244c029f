"""Golden sets: the files of cases, read whole and checked before anything is called. One file per format."""

from pytest_verica.golden.golden_set import GoldenSet, golden_set_from_rows
from pytest_verica.golden.load import load_golden_set

__all__ = ["GoldenSet", "golden_set_from_rows", "load_golden_set"]
