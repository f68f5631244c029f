"""What is wrong and what is odd in one golden set, gathered so that a user sees it together."""

from __future__ import annotations

from typing import NoReturn

from pytest_verica.errors import GoldenSetError, Place, Problem

MAX_PROBLEMS = 20


class Findings:
    """Problems (they stop the golden set) and warnings (they do not). file: the name that messages use."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.warnings: list[str] = []

    def problem(self, message: str, line: int | None = None, column: int | None = None) -> None:
        """Notes a problem; reading goes on until there are too many.

        Raises:
            GoldenSetError: this was one more than are shown.
        """
        if len(self.problems) == MAX_PROBLEMS:
            last = f"there is more to correct: reading stopped after {MAX_PROBLEMS} problems"
            self.stop(last)
        self.problems.append(Problem(message, Place(self.file, line, column)))

    def warn(self, message: str, line: int | None = None) -> None:
        self.warnings.append(f"{Place(self.file, line)}: {message}")

    def stop(self, message: str, line: int | None = None, column: int | None = None) -> NoReturn:
        """A problem after which nothing more can be read."""
        raise GoldenSetError([*self.problems, Problem(message, Place(self.file, line, column))])

    def raise_if_any(self) -> None:
        if self.problems:
            raise GoldenSetError(self.problems)
