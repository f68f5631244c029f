"""What calls are expected to use, learned from the calls before them."""

from __future__ import annotations

from pytest_verica.canonical import canonical_json
from pytest_verica.embedding import EmbeddingRequest
from pytest_verica.request import Request
from pytest_verica.usage import Usage

CHARACTERS_PER_TOKEN = 4.0
TOKENS_PER_MESSAGE = 4
OUTPUT_TOKENS = 150
"""Of an answer, where nothing is known of the model's answers to questions of this kind."""


class Expectation:
    """For questions of one kind to one model. learned: calls that it was learned from; 0: it is a guess."""

    def __init__(self) -> None:
        self.learned = 0
        self._characters = 0
        self._input = self._output = self._cached = self._written = 0

    def learn(self, request: Request, usage: Usage | None) -> None:
        """From a question and what its answer used. Nothing is learned where the provider did not say."""
        self.learn_of(characters_of(request), usage)

    def learn_of(self, characters: int, usage: Usage | None) -> None:
        """The same of a question with so many characters."""
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            return
        self.learned += 1
        self._characters += characters
        self._input += usage.input_tokens
        self._output += usage.output_tokens
        self._cached += usage.cached_input_tokens or 0
        self._written += usage.cache_write_tokens or 0

    def usage(self, request: Request) -> Usage:
        """Tokens that a question is expected to use."""
        return self.usage_of(characters_of(request)) if self.learned else guess(request)

    def usage_of(self, characters: float) -> Usage:
        """Tokens of a question with so many characters; something must have been learned.

        As many tokens beside the texts as the questions had before, and of the texts as many as their length says.
        """
        per_character = min(self._input / self._characters, 1 / CHARACTERS_PER_TOKEN) if self._characters else 0.0
        beside = (self._input - per_character * self._characters) / self.learned
        tokens = round(per_character * characters + beside)
        cached, written = (tokens * part // max(1, self._input) for part in (self._cached, self._written))
        return Usage(tokens, round(self._output / self.learned), cached, cache_write_tokens=written)


def guess(request: Request) -> Usage:
    """Tokens that a question may use, where nothing was learned."""
    embeds = isinstance(request, EmbeddingRequest)
    beside = sum(len(canonical_json(tool.to_json())) for tool in request.tools)
    if request.answer is not None:
        beside += len(canonical_json(dict(request.answer.schema)))
    around = 0 if embeds else TOKENS_PER_MESSAGE * len(request.messages)
    most = request.model.params.get("max_tokens")
    written = min(OUTPUT_TOKENS, most) if isinstance(most, int) else OUTPUT_TOKENS
    read = round((characters_of(request) + beside) / CHARACTERS_PER_TOKEN) + around
    return Usage(read, 0 if embeds else written)


def characters_of(request: Request) -> int:
    """Characters of the messages."""
    return sum(
        len(message.content or "") + sum(len(canonical_json(call.to_json())) for call in message.tool_calls)
        for message in request.messages
    )
