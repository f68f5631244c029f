"""What a provider's messages need to know of its endpoint: name, address, key, and how to hide the key."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from pytest_verica.errors import ProviderError
from pytest_verica.request import ModelSpec

_HIDDEN = "***"
_RAW_LIMIT = 2_000


@dataclass(frozen=True)
class Door:
    """One endpoint, as messages name it.

    provider: the registered kind; address: its base URL; credential: the NAME of the environment variable its key
    came from, None where it has no key; secrets: texts that no message may contain.
    """

    provider: str
    address: str
    credential: str | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.provider} at {self.address}"

    def scrub(self, text: str) -> str:
        """The text without any secret, in whatever form."""
        return hidden(text, self.secrets)

    def scrub_body(self, body: bytes) -> bytes:
        """A reply's body without any secret: an endpoint that echoes one must not bring it into a report."""
        for secret in self.secrets:
            for form in _forms(secret):
                body = body.replace(form.encode(), _HIDDEN.encode())
        return body

    def error(
        self,
        kind: str,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        retryable: bool = False,
        raw: str | None = None,
        attempts: int = 1,
    ) -> ProviderError:
        """A ProviderError whose texts hold no secret. attempts: calls made, 0 where nothing was sent."""
        return ProviderError(
            kind,
            self.scrub(message),
            status=status,
            retry_after_s=retry_after_s,
            retryable=retryable,
            raw=None if raw is None else self.scrub(raw)[:_RAW_LIMIT],
            attempts=attempts,
        )


def hidden(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets."""
    for secret in secrets:
        for form in _forms(secret):
            text = text.replace(form, _HIDDEN)
    return text


def _forms(secret: str) -> set[str]:
    """A secret plain, percent-encoded, and as some servers write it into JSON."""
    return {secret, quote(secret, safe=""), secret.replace("/", "\\/")}


def read_key(spec: ModelSpec) -> str | None:
    """The key in the environment variable that `spec.credential` names; None where it names none.

    Raises:
        ProviderError: `missing_credential`, where the variable is not set or cannot be a key.
    """
    if spec.credential is None:
        return None
    key = os.environ.get(spec.credential, "").strip()
    if not key:
        raise ProviderError(
            "missing_credential",
            f"{spec} takes its key from the environment variable {spec.credential}, which is not set. "
            f"Set it, or name another variable in `credential`.",
            attempts=0,
        )
    if not key.isascii() or not key.isprintable():
        raise ProviderError(
            "missing_credential",
            f"{spec} takes its key from the environment variable {spec.credential}, which holds characters that no key "
            "has (accents, quotes pasted from a document, or a line break). Copy the key again.",
            attempts=0,
        )
    return key


def require_credential(spec: ModelSpec, usual: str) -> None:
    """Refuses a model without a credential, of a provider whose endpoint is not open. usual: the variable's usual name.

    Raises:
        ProviderError: `missing_credential`.
    """
    if spec.credential is None:
        raise ProviderError(
            "missing_credential",
            f"{spec} needs a key: name the environment variable that holds it, as in `credential: {usual}`.",
            attempts=0,
        )


def check_base_url(spec: ModelSpec) -> None:
    """Refuses a `base_url` that cannot be called, or that holds a password.

    Raises:
        ProviderError: `bad_request`.
    """
    if spec.base_url is None:
        return
    parts = urlsplit(spec.base_url)
    if "@" in parts.netloc:
        # The address is not repeated: it holds a password.
        raise ProviderError(
            "bad_request",
            f"The base_url of {spec} holds a user or password. Remove it, and name the environment variable of the key "
            "in `credential`.",
            attempts=0,
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ProviderError(
            "bad_request",
            f"The base_url of {spec} must be an address that begins with http:// or https://; it is {spec.base_url!r}.",
            attempts=0,
        )


def secrets_in(keys: Iterable[str | None]) -> tuple[str, ...]:
    """Those of the texts that must be hidden, the longest first so that no part of one is left."""
    return tuple(sorted({key for key in keys if key}, key=len, reverse=True))
