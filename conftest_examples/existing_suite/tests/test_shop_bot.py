from __future__ import annotations

import pytest
import shop_bot

from pytest_verica import number_check, text_check


def test_books_have_a_month():
    assert shop_bot.deadline_days("book") == 30


def test_unknown_items_have_no_deadline():
    with pytest.raises(KeyError):
        shop_bot.deadline_days("car")


# What the test returns is graded: one verdict for each row and criterion. A row without `days` is N/A for `deadline`.
@pytest.mark.verica(
    golden_set="golden/returns.csv",
    criteria=[
        text_check(name="polite", contains="please", ignore_case=True),
        number_check(name="deadline", extract="only", equals="{{ days }}"),
    ],
)
def test_replies(case):
    return shop_bot.answer(case.question)
