"""Templates that may name environment variables, as in `${SHOP_URL}/answer`: the eval's own text may, a cell never."""

from __future__ import annotations

import os
import re
import secrets

from pytest_verica.evals.secret import ENVIRONMENT_REFERENCE
from pytest_verica.template import Scope, compile_template


class EnvironmentTemplate:
    """A url or a header of an HTTP target that is ready."""

    def __init__(self, text: str) -> None:
        # Filled in after the columns are, and told from what they hold by a mark that nobody can write in a cell.
        mark = secrets.token_hex(8)
        self._marked = re.compile(rf"\$\{{{mark}:(\w+)\}}")
        self._template = compile_template(ENVIRONMENT_REFERENCE.sub(rf"${{{mark}:\1}}", text))

    def render(self, scope: Scope) -> tuple[str, str]:
        """The text to use, and the text to show, in which the variables stand by their names: they may be keys."""
        text = self._template.render(scope)
        return self._marked.sub(lambda m: os.environ.get(m[1], ""), text), self._marked.sub(r"${\1}", text)
