"""The functions of formulas, a file per family; each function is one documented row."""
