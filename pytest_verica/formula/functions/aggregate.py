"""Functions that make one value of many: sums, counts, averages, order, spread."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from pytest_verica.formula.arithmetic import divide, finite, multiply, total
from pytest_verica.formula.criterion import criterion, number_in
from pytest_verica.formula.error import Fault, FormulaError, Passed
from pytest_verica.formula.function import Function
from pytest_verica.formula.functions.lookup import as_list
from pytest_verica.formula.value import ONE, ZERO, CellText, Number, integer_of, number_of, shown


def numbers_in(arguments: Sequence[Any]) -> list[Number]:
    """Every number in the arguments. Empty cells and cells that are texts are passed over.

    Raises:
        Fault: a text of the formula itself is among them.
        Passed: an error is.
    """
    return list(_each_number(arguments))


def _each_number(arguments: Sequence[Any]) -> Iterator[Number]:
    for argument in arguments:
        in_list = argument.__class__ is tuple
        for value in argument if in_list else (argument,):
            if value.__class__ is Decimal or value.__class__ is float:
                yield value
            elif value.__class__ is FormulaError:
                raise Passed(value)
            elif isinstance(value, str):
                number = number_in(value)
                if number is not None:
                    yield number
                elif not in_list and not isinstance(value, CellText):
                    raise Fault("#VALUE!", f"{shown(value)} is a text, not a number")
            elif value is not None:
                yield number_of(value)


def sum_of(*values: Any) -> Number:
    return total(numbers_in(values))


def average(*values: Any) -> Number:
    return _mean(numbers_in(values))


def _mean(numbers: list[Number]) -> Number:
    if not numbers:
        raise Fault("#DIV/0!", "there are no numbers to average")
    return divide(total(numbers), Decimal(len(numbers)))


def least(*values: Any) -> Number:
    return _extreme(min, values)


def greatest(*values: Any) -> Number:
    return _extreme(max, values)


def _extreme(pick: Callable[[list[Number]], Number], values: Sequence[Any]) -> Number:
    numbers = numbers_in(values)
    if not numbers and all(value == () for value in values):
        # A sheet has no list without cells. What is the least of nothing would pass any check against 0.
        raise Fault("#VALUE!", "the list is empty")
    return pick(numbers) if numbers else ZERO


def count(*values: Any) -> Number:
    return Decimal(sum(_counts(value) for value in values))


def _counts(argument: Any) -> int:
    if argument.__class__ is tuple:
        return sum(number_in(value) is not None for value in argument)
    if argument is None or argument.__class__ is FormulaError:
        return 0
    try:
        number_of(argument)
    except Fault:
        return 0
    return 1


def count_filled(*values: Any) -> Number:
    return Decimal(sum(value is not None for argument in values for value in as_list(argument)))


def count_if(list: Any, wanted: Any) -> Number:
    return Decimal(sum(map(criterion(wanted), as_list(list))))


def sum_if(list: Any, wanted: Any, sum_list: Any = None) -> Number:
    return total(numbers_in([_picked(list, wanted, sum_list)]))


def average_if(list: Any, wanted: Any, sum_list: Any = None) -> Number:
    return _mean(numbers_in([_picked(list, wanted, sum_list)]))


def _picked(list: Any, wanted: Any, sum_list: Any) -> tuple[Any, ...]:
    elements = as_list(list)
    taken = elements if sum_list is None else as_list(sum_list)
    if len(taken) != len(elements):
        raise Fault("#VALUE!", f"the lists have different lengths: {len(elements)} and {len(taken)}")
    test = criterion(wanted)
    return tuple(value for element, value in zip(elements, taken, strict=True) if test(element))


def sum_of_products(*values: Any) -> Number:
    lists = [as_list(value) for value in values]
    lengths = {len(elements) for elements in lists}
    if len(lengths) > 1:
        raise Fault("#VALUE!", f"the lists have different lengths: {', '.join(map(str, sorted(lengths)))}")
    return total([_product(row) for row in zip(*lists, strict=True)])


def _product(row: Sequence[Any]) -> Number:
    result: Number = ONE
    for value in row:
        if value.__class__ is FormulaError:
            raise Passed(value)
        result = multiply(result, number_in(value) or ZERO)
    return result


def product(*values: Any) -> Number:
    numbers = numbers_in(values)
    result: Number = ONE if numbers else ZERO
    for number in numbers:
        result = multiply(result, number)
    return result


def median(*values: Any) -> Number:
    numbers = sorted(numbers_in(values))
    if not numbers:
        raise Fault("#VALUE!", "there are no numbers")
    half, odd = divmod(len(numbers), 2)
    return numbers[half] if odd else divide(total(numbers[half - 1 : half + 1]), Decimal(2))


def mode(*values: Any) -> Number:
    counted = Counter(numbers_in(values))
    most = max(counted.values(), default=0)
    if most < 2:
        raise Fault("#VALUE!", "no number is there twice")
    return min(number for number, times in counted.items() if times == most)


def nth_greatest(list: Any, position: Any) -> Number:
    return _nth(list, position, backwards=True)


def nth_least(list: Any, position: Any) -> Number:
    return _nth(list, position, backwards=False)


def _nth(list: Any, position: Any, *, backwards: bool) -> Number:
    numbers, place = sorted(numbers_in([list]), reverse=backwards), integer_of(position)
    if not 1 <= place <= len(numbers):
        raise Fault("#VALUE!", f"there is no number {place} of {len(numbers)}")
    return numbers[place - 1]


def variance(*values: Any) -> Number:
    return _spread(values, 1)


def deviation(*values: Any) -> Number:
    return math.sqrt(_spread(values, 1))


def deviation_of_all(*values: Any) -> Number:
    return math.sqrt(_spread(values, 0))


def _spread(values: Sequence[Any], less: int) -> float:
    """The sum of squared distances from the mean, over their number less 1 (a sample) or 0 (all there are)."""
    numbers = [float(number) for number in numbers_in(values)]
    if len(numbers) <= less:
        raise Fault("#DIV/0!", f"at least {less + 1} numbers are needed, there are {len(numbers)}")
    try:
        mean = math.fsum(numbers) / len(numbers)
        return finite(math.fsum((number - mean) ** 2 for number in numbers) / (len(numbers) - less))
    except OverflowError:
        raise Fault("#NUM!", "the result is too large") from None


ROWS = (
    Function("SUM(values, …)", "The sum of all numbers.", "=SUM(prices, 5)", "65", sum_of),
    Function("AVERAGE(values, …)", "The mean of all numbers.", "=AVERAGE(prices)", "20", average),
    Function("MIN(values, …)", "The least number.", "=MIN(prices)", "10", least),
    Function("MAX(values, …)", "The greatest number.", "=MAX(prices)", "30", greatest),
    Function("COUNT(values, …)", "How many numbers.", "=COUNT(prices)", "3", count, sees_errors=True),
    Function(
        "COUNTA(values, …)",
        "How many values that are not empty.",
        "=COUNTA(names)",
        "3",
        count_filled,
        sees_errors=True,
    ),
    Function("COUNTIF(list, wanted)", "How many elements are as wanted.", '=COUNTIF(prices, ">15")', "2", count_if),
    Function(
        "SUMIF(list, wanted, [sum_list])",
        "The sum of those, or of what stands in another list beside them.",
        '=SUMIF(names, "p*", prices)',
        "50",
        sum_if,
    ),
    Function(
        "AVERAGEIF(list, wanted, [sum_list])", "The mean of the same.", '=AVERAGEIF(prices, ">15")', "25", average_if
    ),
    Function(
        "SUMPRODUCT(values, …)",
        "The sum of the products, element by element; what is no number is 0.",
        "=SUMPRODUCT(prices, quantities)",
        "100",
        sum_of_products,
    ),
    Function("MEDIAN(values, …)", "The number in the middle.", "=MEDIAN(1, 2, 3, 10)", "2.5", median),
    Function("MODE(values, …)", "The most frequent number, the least of several.", "=MODE(3, 1, 3, 1)", "1", mode),
    Function("STDEV(values, …)", "The standard deviation of a sample.", "=STDEV(prices)", "10", deviation),
    Function("STDEVP(values, …)", "The standard deviation of all there are.", "=STDEVP(2, 4)", "1", deviation_of_all),
    Function("VAR(values, …)", "The variance of a sample.", "=VAR(prices)", "100", variance),
    Function("LARGE(list, position)", "The greatest number but so many.", "=LARGE(prices, 2)", "20", nth_greatest),
    Function("SMALL(list, position)", "The least number but so many.", "=SMALL(prices, 1)", "10", nth_least),
    Function("PRODUCT(values, …)", "All numbers multiplied.", "=PRODUCT(2, 3, 4)", "24", product),
)
