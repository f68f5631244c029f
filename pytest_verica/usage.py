"""What a model call used, in tokens."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Usage:
    """Tokens of one call. None means the provider did not say.

    input_tokens: all tokens read, the cached ones included; cached_input_tokens: the part of them read from the
    provider's cache; output_tokens: all tokens written, the reasoning ones included; reasoning_tokens: the part of
    them spent on reasoning; cache_write_tokens: the part of those read that the provider put into its cache.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_write_tokens: int | None = None

    def to_json(self) -> dict[str, int | None]:
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_input_tokens": self.cached_input_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "cache_write_tokens": self.cache_write_tokens,
        }

    @classmethod
    def from_json(cls, data: dict[str, int | None]) -> Usage:
        return cls(**data)

    @staticmethod
    def total(usages: list[Usage]) -> Usage | None:
        """The sum, field by field; a field that one of them does not know is not known. None for no usage at all."""
        if not usages:
            return None

        def add(values: list[int | None]) -> int | None:
            return None if any(value is None for value in values) else sum(value or 0 for value in values)

        return Usage(
            add([usage.input_tokens for usage in usages]),
            add([usage.output_tokens for usage in usages]),
            add([usage.cached_input_tokens for usage in usages]),
            add([usage.reasoning_tokens for usage in usages]),
            add([usage.cache_write_tokens for usage in usages]),
        )
