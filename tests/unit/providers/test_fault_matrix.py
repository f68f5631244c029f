"""Every fault, for a sample, a judge and an embedding, of every provider: what the user gets, after which calls and
waits, with which words, at which cost. Real HTTP on this machine, real limits and time-outs; the clock jumps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_verica.case import Case
from pytest_verica.engine.caller import Caller
from pytest_verica.engine.endpoints import CallSettings
from pytest_verica.engine.sampling import make_sampler
from pytest_verica.errors import ProviderError
from pytest_verica.evals.prompt import Prompt, PromptConfig
from pytest_verica.graders.criterion import Criterion, make_criterion
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output
from pytest_verica.pricing import Prices
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.request import ModelSpec
from pytest_verica.store.responses import ResponseStore
from tests.unit.providers.asking import KEY, KEY_NAME
from tests.unit.providers.faulty import FACES, FAULTS, REFUSED, RETRY_AFTER_S, Face, FaultyServer, run_jumping

PRICES = Prices({"price": [{"model": "m", "input": Decimal(2), "output": Decimal(4)}]})
BOUGHT = Decimal("0.004")  # 1,000 tokens at 2 USD the million and 500 at 4
EMBEDDED = Decimal("0.00002")  # 10 tokens of one text
TIMEOUT_S = 120.0
ROLES = ("sample", "judge", "embedding")


@dataclass(frozen=True)
class Seen:
    """What became of a cell. outcome: `output`, or the outcome of a grade, or `error`; kind: of the error; words: the
    message, or the output's text; told: calls that the user is told of; arrivals: when each call arrived; cost: USD;
    stored: answers of its own that were kept."""

    outcome: str
    kind: str | None
    words: str | None
    told: int
    arrivals: tuple[float, ...]
    cost: Decimal | None
    stored: int

    @property
    def waits(self) -> list[float]:
        return [later - sooner for sooner, later in zip(self.arrivals, self.arrivals[1:], strict=False)]


Cells = Mapping[tuple[str, str, str], Seen]


class Cellwise:
    """Asks for one cell after the other, of one face, through one caller: as a run does."""

    def __init__(self, name: str, face: Face, folder: Path) -> None:
        self._name, self._face = name, face
        self._server = FaultyServer(face)
        self._store = ResponseStore(folder / f"{name}.sqlite")
        self._caller = Caller(PROVIDERS, self._store, [], PRICES, CallSettings(request_timeout_s=TIMEOUT_S))
        self._kept = 0

    async def cells(self) -> dict[tuple[str, str, str], Seen]:
        face, url = self._face, await self._server.start()
        model = {"provider": face.provider, "name": "m", "credential": KEY_NAME, "base_url": url, "api": face.api}
        seen = {}
        for fault in FAULTS:
            for role in ROLES:
                self._server.arrivals.clear()
                seen[self._name, role, fault] = await self._cell(role, fault, model)
        await self._caller.aclose()
        await self._server.stop()
        return seen

    async def _cell(self, role: str, fault: str, model: Mapping[str, Any]) -> Seen:
        if role == "sample":
            outcome, kind, words, told, cost = await self._sample(fault, model)
        else:
            criterion = _judge(model) if role == "judge" else _similarity(model, fault)
            grade = await criterion.judge(Case("c", {}), Output(f"embed this [[{fault}]]"), self._caller.ask)
            kind = None if grade.error is None else grade.error.kind
            outcome, words, told, cost = grade.outcome, grade.explanation, grade.calls, grade.cost
        arrivals = self._server.arrivals.get(fault, [])
        return Seen(outcome, kind, words, told, tuple(arrivals), cost, self._newly_stored())

    async def _sample(self, fault: str, model: Mapping[str, Any]) -> tuple[str, str | None, str | None, int, Any]:
        spec = ModelSpec(model["provider"], "m", KEY_NAME, model["base_url"], {}, model["api"])
        prompt = Prompt(PromptConfig(user="{{ q }}"))
        ready = SimpleNamespace(config=SimpleNamespace(target=None), prompt=prompt, model=spec)
        sampler = make_sampler(ready, None)  # type: ignore[arg-type]
        try:
            output = await sampler(Case("c", {"q": f"[[{fault}]]"}), 0, self._caller.ask)
        except ProviderError as error:
            return "error", error.kind, str(error), error.attempts, None
        return "output", output.stop_reason, output.text, output.calls, output.cost

    def _newly_stored(self) -> int:
        count = self._store.count()
        new, self._kept = count - self._kept, count
        return new


def _criterion(keys: Mapping[str, Any]) -> Criterion:
    config = KINDS[keys["type"]].config.model_validate(keys)
    return make_criterion(config, KINDS, BuildContext(Path(".")))


def _judge(model: Mapping[str, Any]) -> Criterion:
    keys = {"prompt": "Good? {{ output.text }}", "labels": ["good", "bad"], "passing_labels": ["good"]}
    return _criterion({"name": "judge", "type": "label_model", "model": model, **keys})


def _similarity(model: Mapping[str, Any], fault: str) -> Criterion:
    known = {key: value for key, value in model.items() if key != "api"}
    keys = {"expected": f"embed this too, {fault}", "metric": "cosine", "pass_at": 0.9, "model": known}
    return _criterion({"name": "like", "type": "text_similarity", **keys})


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    folder = tmp_path_factory.mktemp("faults")
    seen: dict[tuple[str, str, str], Seen] = {}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            patch.delenv(name, raising=False)
            patch.delenv(name.lower(), raising=False)
        patch.setenv(KEY_NAME, KEY)
        for name, face in FACES.items():
            seen |= run_jumping(Cellwise(name, face, folder).cells())
    return seen


@dataclass(frozen=True)
class Told:
    """What a cell is to be. calls: that arrive, and that the user is told of; apart: seconds between two calls beside
    the growing wait; told, where another number."""

    outcome: str
    kind: str | None
    words: str
    calls: int
    cost: Decimal | None
    stored: int = 0
    apart: float = 0.0
    told: int | None = None


# Asked again, five times in all: kind, words, and how long each call takes to fail.
AGAIN = {
    "408": ("timeout", "gave up waiting (HTTP 408): Something is wrong", 0.0),
    "409": ("server", "had an error of its own (HTTP 409): Something is wrong", 0.0),
    "429": ("rate_limit", "limits the rate of requests (HTTP 429): Something is wrong", 0.0),
    "429 with Retry-After": ("rate_limit", "Lower --verica-concurrency or set requests_per_minute", 0.0),
    "500": ("server", "had an error of its own (HTTP 500): Something is wrong", 0.0),
    "503": ("server", "had an error of its own (HTTP 503): Something is wrong", 0.0),
    "529": ("server", "had an error of its own (HTTP 529): Something is wrong", 0.0),
    "reset before headers": ("connection", "or it broke off: ", 0.0),
    "reset after headers": ("connection", "or it broke off: ", 0.01),
    "slow body": ("timeout", "did not answer within 120 s. Raise the timeout", TIMEOUT_S),
    "never answers": ("timeout", "did not answer within 120 s. Raise the timeout", TIMEOUT_S),
    "malformed JSON": ("malformed", "its body is not JSON", 0.0),
}
NO_QUOTA = "has no credit or quota left for the key in VERICA_TEST_KEY"
FILTERS = ("google",)
"""Its refusals are a filter's: there are no words of the model."""
EMPTY_IS_AN_ANSWER = ("openai responses", "anthropic")
"""Their list of contents may be empty; without a choice or a candidate the others have answered nothing at all."""


def expected(name: str, role: str, fault: str) -> Told:
    graded = Decimal(0) if role != "sample" else None
    if role == "embedding" and FACES[name].embed is None:
        return Told("error", "unsupported", "offers no embeddings", 0, Decimal(0))
    if fault in AGAIN:
        kind, words, apart = AGAIN[fault]
        return Told("error", kind, words, 5, graded, apart=apart)
    if fault == "429 insufficient_quota":
        return Told("error", "quota", NO_QUOTA, 1, graded)
    if role == "embedding":
        return _embedding(fault)
    if fault == "truncated output":
        if role == "sample":
            return Told("output", "length", "The answer i", 1, BOUGHT)
        return Told("error", "judge_truncated", "cut off at its greatest length; raise `max_tokens`", 1, BOUGHT)
    if fault == "refusal":
        kept = 0 if name in FILTERS else 1
        if role == "sample":
            return Told("output", "content_filter" if name in FILTERS else "refusal", REFUSED, 1, BOUGHT, kept)
        words = "a content filter cut the answer" if name in FILTERS else "the judge refused"
        return Told("error", "judge_refusal", words, 1, BOUGHT, kept)
    if name not in EMPTY_IS_AN_ANSWER:
        return Told("error", "malformed", "with HTTP 200, but its JSON has no `c", 5, graded)
    if role == "sample":
        return Told("output", "stop", "", 1, None, 1)  # no usage came with it: what it cost is not known
    return Told("error", "judge_empty", "the judge answered nothing", 1, None, 1)


def _embedding(fault: str) -> Told:
    if fault == "refusal":  # one of two texts: they are asked for apart, and the other is had
        return Told("error", "bad_request", "This text is not embedded", 2, EMBEDDED, 1, told=3)
    words = {"truncated output": "is not a list of numbers", "empty choices": "its JSON has no `"}[fault]
    return Told("error", "malformed", words, 5, Decimal(0))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", FACES)
def test_a_cell(cells: Cells, name: str, role: str, fault: str) -> None:
    seen, told = cells[name, role, fault], expected(name, role, fault)
    assert (seen.outcome, seen.kind) == (told.outcome, told.kind)
    assert told.words in (seen.words or "")
    assert len(seen.arrivals) == told.calls
    assert seen.told == (told.calls if told.told is None else told.told)
    assert (seen.cost, seen.stored) == (told.cost, told.stored)
    if told.calls == 5:
        assert "Gave up after 5 calls." in (seen.words or "")
        for number, wait in enumerate(seen.waits):
            low, high = waits(fault, number)
            # The time-out is rounded up to a whole second.
            assert told.apart + low <= wait <= told.apart + high + (1 if told.apart >= TIMEOUT_S else 0.011)


def waits(fault: str, number: int) -> tuple[float, float]:
    """The least and the most: what the endpoint asks for and half a second over it, else half to all of 0.5 s doubled
    each time."""
    return (RETRY_AFTER_S, RETRY_AFTER_S + 0.5) if "Retry-After" in fault else (0.25 * 2**number, 0.5 * 2**number)


def test_no_key_is_in_any_message(cells: Cells) -> None:
    assert not [cell for cell, seen in cells.items() if KEY in str(seen.words)]
