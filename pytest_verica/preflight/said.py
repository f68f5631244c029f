"""Estimates in words, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from pytest_verica.preflight.estimate import Estimate, PartEstimate
from pytest_verica.preflight.rehearsal import SAMPLING


def estimate_lines(estimate: Estimate) -> Iterator[str]:
    """What would be asked, part by part, and what it would cost."""
    for part in estimate.parts:
        yield f"{part.eval}, {'outputs' if part.part is SAMPLING else part.part} ({part.model}): {_said(part)}"
    tokens = estimate.tokens()
    yield f"calls: {estimate.calls} to make, {estimate.stored} answered from the store"
    yield f"tokens: {tokens.input_tokens} in, {tokens.output_tokens} out"
    sampling, grading = estimate.cost(sampling=True), estimate.cost(sampling=False)
    line = f"cost: {_dollars(sampling)} sampling + {_dollars(grading)} judges = {_dollars(estimate.cost())}"
    embeddings = estimate.cost(embeds=True)
    if any(part.embeds for part in estimate.parts):
        line += f" (embeddings: {_dollars(embeddings)})"
    if estimate.unpriced:
        line += f", not counted, price unknown: {', '.join(estimate.unpriced)} (give it in verica_prices)"
    yield line
    guessed = [f"{part.model}" for part in estimate.guessed]
    if guessed:
        names = ", ".join(dict.fromkeys(guessed))
        yield f"guessed: no answer of {names} to such questions is stored; after --verica-sample 5 the tokens are known"
    for name in estimate.unknown_outputs:
        yield f"not known: what the code behind {name} calls, and how long its outputs are"


def _said(part: PartEstimate) -> str:
    stored = f", {part.stored} stored" if part.stored else ""
    if not part.calls:
        return f"no call{stored}"
    tokens = part.tokens
    price = "price unknown" if part.cost is None else _dollars(part.cost)
    basis = f"from {part.learned} answers" if part.learned else "guessed"
    return f"{part.calls} calls{stored}, {tokens.input_tokens} tokens in, {tokens.output_tokens} out ({basis}), {price}"


def _dollars(amount: Decimal | None) -> str:
    return "unknown" if amount is None else f"${float(amount):.4g}" if amount else "$0"
