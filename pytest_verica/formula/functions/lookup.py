"""Functions that find something in a list."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from pytest_verica.formula.compare import compare
from pytest_verica.formula.criterion import equal_to, number_in
from pytest_verica.formula.error import Fault, FormulaError
from pytest_verica.formula.function import Function
from pytest_verica.formula.value import ONE, ZERO, Number, Value, integer_of, shown


def as_list(value: Any) -> Sequence[Any]:
    """A single value is a list of one."""
    return value if value.__class__ is tuple else (value,)


def index(list: Any, position: Any) -> Value:
    elements, place = as_list(list), integer_of(position)
    if place == 0:
        return list  # type: ignore[no-any-return]
    if not 1 <= place <= len(elements):
        raise Fault("#REF!", f"the list has no position {place}, only {len(elements)}")
    return elements[place - 1]  # type: ignore[no-any-return]


def match(wanted: Any, list: Any, mode: Any = ONE) -> Number:
    elements, kind = as_list(list), integer_of(mode)
    if wanted is None or wanted == "":
        raise _nothing(wanted)
    if kind == 0:
        same = equal_to(wanted)
        found = next((place for place, element in enumerate(elements) if same(element)), None)
    else:
        found = _last_in_order(wanted, elements, -1 if kind > 0 else 1)
    if found is None:
        raise _nothing(wanted)
    return Decimal(found + 1)


def _last_in_order(wanted: Any, elements: Sequence[Any], side: int) -> int | None:
    """The last position before the list passes the value; only elements of its kind are looked at."""
    found = None
    for place, element in enumerate(elements):
        if not _same_kind(wanted, element):
            continue
        if compare(element, wanted) not in (0, side):
            break
        found = place
    return found


def _same_kind(one: Any, other: Any) -> bool:
    if other is None or other.__class__ is FormulaError:
        return False
    numbers = [number_in(value) is not None for value in (one, other)]
    return all(numbers) or (isinstance(one, str) and isinstance(other, str))


def look_up(
    wanted: Any, list: Any, return_list: Any, if_missing: Any = None, mode: Any = ZERO, order: Any = ONE
) -> Value:
    elements, results = as_list(list), as_list(return_list)
    if len(elements) != len(results):
        raise Fault("#VALUE!", f"the lists have different lengths: {len(elements)} and {len(results)}")
    kind, direction = integer_of(mode), integer_of(order)
    if kind not in (-1, 0, 1, 2) or direction not in (-2, -1, 1, 2):
        raise Fault("#VALUE!", "the mode is -1, 0, 1 or 2, the order 1, -1, 2 or -2")
    places = range(len(elements)) if direction > 0 else range(len(elements) - 1, -1, -1)
    found = _equal_place(wanted, elements, places, kind)
    if found is None and kind in (-1, 1):
        found = _next_place(wanted, elements, places, kind)
    if found is not None:
        return results[found]  # type: ignore[no-any-return]
    if if_missing is None:
        raise _nothing(wanted)
    return if_missing  # type: ignore[no-any-return]


def _equal_place(wanted: Any, elements: Sequence[Any], places: range, kind: int) -> int | None:
    same = equal_to(wanted, patterns=kind == 2)
    return next((place for place in places if same(elements[place])), None)


def _next_place(wanted: Any, elements: Sequence[Any], places: range, side: int) -> int | None:
    """Where the nearest element below (-1) or above (1) is."""
    found: int | None = None
    for place in places:
        element = elements[place]
        if not _same_kind(wanted, element) or compare(element, wanted) != side:
            continue
        if found is None or compare(element, elements[found]) == -side:
            found = place
    return found


def _nothing(wanted: Any) -> Fault:
    return Fault("#N/A", f"{shown(wanted)} is not in the list")


ROWS = (
    Function(
        "INDEX(list, position)",
        "The element at a position, counted from 1; 0 is the whole list.",
        "=INDEX(prices, 2)",
        "20",
        index,
    ),
    Function(
        "MATCH(wanted, list, [mode])",
        "The position of a value: equal (mode 0, patterns allowed), or the last that is not above it in a rising list "
        "(1, also where none is given), or not below it in a falling one (-1).",
        '=MATCH("pen", names, 0)',
        "2",
        match,
    ),
    Function(
        "XLOOKUP(wanted, list, return_list, [if_missing], [mode], [order])",
        "What stands in another list where a value is in the first: equal (mode 0), or else the next below (-1) or "
        "above (1), or a pattern (2); order -1 looks from the end.",
        '=XLOOKUP("pen", names, prices)',
        "20",
        look_up,
    ),
)
