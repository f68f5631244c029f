from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_verica.completion import Completion
from pytest_verica.errors import ProviderError
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.providers.scripted import ScriptedProvider
from pytest_verica.request import Message, ModelSpec, Request
from pytest_verica.usage import Usage

LISTED = ["first", "second"]
MAPPED = {"refund": "a refund", "Is a refund due?": "exactly"}
SHARED = ScriptedProvider(["shared"])
NOT_A_SCRIPT = 3
HERE = __name__


def by_length(request: Request) -> str:
    return str(len(request.messages[-1].content or ""))


async def in_time(request: Request) -> str:
    await asyncio.sleep(0)
    return "later"


class Bot:
    answers = ("nested",)


def asked(text: str, name: str = "fake") -> Request:
    return Request(ModelSpec("scripted", name), (Message("system", "refund"), Message("user", text)))


def say(provider: Any, *requests: Request) -> list[Any]:
    async def main() -> list[Any]:
        return [await provider.complete(each) for each in requests]

    return asyncio.run(main())


WHOLE = Completion("whole", (), "length", usage=Usage(3, 4))


@pytest.mark.parametrize(
    ("script", "questions", "expected"),
    [
        (LISTED, ["a", "b"], ["first", "second"]),
        (MAPPED, ["Is a refund due?", "My refund?"], ["exactly", "a refund"]),
        (by_length, ["abc", ""], ["3", "0"]),
        (in_time, ["a"], ["later"]),
        ([{"label": "ñ", "score": 1}], ["a"], ['{"label": "ñ", "score": 1}']),
        ([WHOLE], ["a"], ["whole"]),
    ],
)
def test_answers_come_from_the_script(script: Any, questions: list[str], expected: list[str]) -> None:
    provider = ScriptedProvider(script)
    requests = [asked(text) for text in questions]
    assert [answer.text for answer in say(provider, *requests)] == expected
    assert provider.requests == requests


def test_a_text_is_a_whole_answer_and_a_completion_stays_as_it_is() -> None:
    text, whole = say(ScriptedProvider(["x", WHOLE]), asked("a"), asked("b"))
    assert (text.stop_reason, text.model, text.usage) == ("stop", "fake", None)
    assert whole is WHOLE


def test_an_exception_is_raised() -> None:
    trouble = ProviderError("server", "down", retryable=True)
    provider = ScriptedProvider([trouble, "up again"])
    with pytest.raises(ProviderError) as caught:
        say(provider, asked("a"))
    assert caught.value is trouble
    assert say(provider, asked("a"))[0].text == "up again"


@pytest.mark.parametrize(
    ("script", "words"),
    [([], "its 0 answers are used up"), ({"refund": "x"}, "none of its keys"), (lambda request: 3, "is a int")],
)
def test_a_question_that_is_not_in_the_script_is_named(script: Any, words: str) -> None:
    with pytest.raises(ProviderError) as caught:
        say(ScriptedProvider(script), asked("What about shipping?"))
    assert not caught.value.retryable
    assert "What about shipping?" in caught.value.message and words in caught.value.message


@pytest.mark.parametrize("script", ["a text", 3, None])
def test_what_is_no_script_is_refused(script: Any) -> None:
    with pytest.raises(TypeError, match="a list, a mapping or a callable"):
        ScriptedProvider(script)


@pytest.mark.parametrize(
    ("attribute", "text"),
    [("LISTED", "first"), ("MAPPED", "a refund"), ("by_length", "10"), ("Bot.answers", "nested"), ("SHARED", "shared")],
)
def test_an_eval_names_a_script_by_module_and_attribute(attribute: str, text: str) -> None:
    model = asked("my refund?", f"{HERE}:{attribute}")
    assert say(PROVIDERS["scripted"].open(model.model, 1.0), model)[0].text == text
    assert SHARED.requests == ([model] if attribute == "SHARED" else [])


def test_two_models_of_one_endpoint_have_each_their_script() -> None:
    one, other = asked("refund", f"{HERE}:LISTED"), asked("refund", f"{HERE}:MAPPED")
    assert one.model.endpoint == other.model.endpoint
    answers = say(PROVIDERS["scripted"].open(one.model, 1.0), one, other, one)
    assert [answer.text for answer in answers] == ["first", "a refund", "second"]


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("gpt-4.1", "bad_request", "`module:attribute`"),
        ("no_such_module_at_all:x", "not_found", "cannot be imported"),
        (f"{HERE}:missing", "not_found", "missing"),
        (f"{HERE}:NOT_A_SCRIPT", "bad_request", "is not a script"),
    ],
)
def test_a_name_that_leads_nowhere_is_said_when_it_is_opened(name: str, kind: str, words: str) -> None:
    with pytest.raises(ProviderError) as caught:
        PROVIDERS["scripted"].open(ModelSpec("scripted", name), 1.0)
    assert caught.value.kind == kind and words in caught.value.message
