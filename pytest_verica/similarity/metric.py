"""The metrics by name: (text, expected) to a score from 0 to 1. Those of other packages are imported when used."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from pytest_verica.errors import ConfigError
from pytest_verica.similarity.overlap import gleu, rouge_l, rouge_n
from pytest_verica.similarity.words import words_of

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

Metric = Callable[[str, str], float]

_MOST_PAIRS = 2 * 10**10
"""Of characters or words that are compared with each other: 140,000 against 140,000, one to four seconds."""


_LONGEST_TOKENIZED = 2_000_000
"""Characters that sacrebleu's tokenizer takes five seconds for."""


class TooLong(ValueError):
    """Two texts that a metric cannot compare in a time anyone would wait: a sentence."""


def metric(name: str) -> Metric:
    """The metric of that name. Identical texts have 1, whatever they hold.

    Raises:
        ConfigError: it needs a package that is not installed.
    """
    make = METRICS[name]
    return partial(_bounded, make())


def _bounded(compare: Metric, text: str, expected: str) -> float:
    if text == expected:
        return 1.0  # also where there is nothing to count: a single word has no run of two
    return min(1.0, max(0.0, compare(text, expected)))


def _fuzzy_match() -> Metric:
    try:
        from rapidfuzz.distance import Levenshtein  # deferred: an extra
    except ImportError:
        raise ConfigError(_not_installed("fuzzy_match", "rapidfuzz")) from None

    def compare(text: str, expected: str) -> float:
        _refuse_long("fuzzy_match", len(text), len(expected), "characters")
        return float(Levenshtein.normalized_similarity(text, expected))

    return compare


def _bleu() -> Metric:
    bleu = _sacrebleu("bleu")

    def compare(text: str, expected: str) -> float:
        _refuse_longer("bleu", text, expected)
        return float(bleu.sentence_score(text, [expected]).score) / 100

    return compare


def _gleu() -> Metric:
    tokenize = _sacrebleu("gleu").tokenizer

    def compare(text: str, expected: str) -> float:
        _refuse_longer("gleu", text, expected)
        return gleu(tokenize(text).split(), tokenize(expected).split())

    return compare


@lru_cache(maxsize=1)
def _bleu_scorer() -> BLEU:
    from sacrebleu.metrics.bleu import BLEU  # deferred: an extra, and numpy with it

    return BLEU(effective_order=True)


def _sacrebleu(name: str) -> BLEU:
    try:
        return _bleu_scorer()
    except ImportError:
        raise ConfigError(_not_installed(name, "sacrebleu")) from None


def _not_installed(name: str, package: str) -> str:
    return f"the metric `{name}` needs {package}: pip install 'pytest-verica[similarity]'"


def _rouge(size: int) -> Metric:
    return lambda text, expected: rouge_n(words_of(text), words_of(expected), size)


def _rouge_l() -> Metric:
    def compare(text: str, expected: str) -> float:
        found, wanted = words_of(text), words_of(expected)
        _refuse_long("rouge_l", len(found), len(wanted), "words")
        return rouge_l(found, wanted)

    return compare


def _refuse_longer(name: str, text: str, expected: str) -> None:
    length = len(text) + len(expected)
    if length > _LONGEST_TOKENIZED:
        raise TooLong(f"`{name}` takes texts of {_LONGEST_TOKENIZED:,} characters together; these have {length:,}")


def _refuse_long(name: str, one: int, other: int, unit: str) -> None:
    if one * other > _MOST_PAIRS:
        raise TooLong(f"`{name}` compares each of {one:,} {unit} with each of {other:,}: too many; compare a part")


METRICS: dict[str, Callable[[], Metric]] = {
    "fuzzy_match": _fuzzy_match,
    "bleu": _bleu,
    "gleu": _gleu,
    **{f"rouge_{size}": partial(_rouge, size) for size in range(1, 6)},
    "rouge_l": _rouge_l,
}
