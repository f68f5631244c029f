"""The functions of formulas by name: these, and no others."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_verica.formula.function import Function
from pytest_verica.formula.functions import aggregate, dates, logic, lookup, numeric, rounding, text

FAMILIES: Mapping[str, tuple[Function, ...]] = {
    "Many values": aggregate.ROWS,
    "Rounding": rounding.ROWS,
    "Numbers": numeric.ROWS,
    "Choosing": logic.ROWS,
    "Texts": text.ROWS,
    "Dates": dates.ROWS,
    "Looking up": lookup.ROWS,
}

FUNCTIONS: Mapping[str, Function] = {row.name: row for rows in FAMILIES.values() for row in rows}
