"""What looks like a key in what a user writes. It is refused before anything runs, and never repeated."""

from __future__ import annotations

import re

ENVIRONMENT_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_NAME = re.compile(r"authorization|api[-_]?key|token|secret|cookie|password|\Akey\Z", re.IGNORECASE)
_LONG_TOKEN = re.compile(r"[A-Za-z0-9+/_.=-]{16,}")


def is_literal_key(name: str, value: str) -> bool:
    """Whether a named value (a header, a parameter of a url) seems to be a key, not a name or a template of one."""
    bare = ENVIRONMENT_REFERENCE.sub("", value)
    return bool(_SECRET_NAME.search(name)) and "{{" not in value and bool(_LONG_TOKEN.search(bare))


def url_holds_key(url: str) -> bool:
    """Whether a url has a password, or a key among its parameters, written out."""
    bare = ENVIRONMENT_REFERENCE.sub("", url)
    address, _, query = bare.partition("?")
    user, at, _ = re.split(r"[/\\]", address.partition("://")[2], maxsplit=1)[0].rpartition("@")
    password = user.partition(":")[2]
    if at and "{{" not in user and (password or _LONG_TOKEN.search(user)):
        return True
    pairs = (part.partition("=") for part in query.split("&"))
    return any(is_literal_key(name, value) for name, _, value in pairs)
