"""preset: a judge whose prompt, shape and formula are ours, such as rag/faithfulness. The prompt can be replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from pytest_verica.canonical import content_hash
from pytest_verica.case import Case
from pytest_verica.completion import Completion
from pytest_verica.evals.fields import TemplateText
from pytest_verica.evals.prompt import PromptConfig
from pytest_verica.grade import Grade
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.protocol import Ask, BuildContext, GraderKind, Judge
from pytest_verica.graders.text import sentences
from pytest_verica.graders.text_check import is_template
from pytest_verica.json_text import read_json
from pytest_verica.judge.aspect import ASPECTS, NON_COMMITTAL, Aspect, Finding, median
from pytest_verica.judge.inquiry import Ledger, NotJudged
from pytest_verica.judge.panel import verdicts_of
from pytest_verica.judge.preset_file import preset_keys
from pytest_verica.judge.question import VERDICT_SCHEMA, JudgeConfig, JudgePrompt, Question
from pytest_verica.judge.verdict import NO_MAJORITY, SCHEMA, NoVerdict, read_object
from pytest_verica.output import Output
from pytest_verica.template import Scope, compile_template, is_missing, text_of

FENCE = "fence"
INPUTS: Mapping[str, str] = {
    "question": "{{ question }}",
    "answer": "{{ output.text }}",
    "contexts": "{{ contexts }}",
    "reference": "{{ reference }}",
}
"""What presets look at, and where it is unless the eval says otherwise."""

PresetName = Literal["rag/faithfulness", "rag/answer_relevance", "rag/context_relevance", "rag/context_recall"]


def _column_or_template(value: Any) -> Any:
    """The name of a column stands for its template."""
    return f"{{{{ {value} }}}}" if isinstance(value, str) and value.strip() and not is_template(value) else value


Input = Annotated[TemplateText | None, BeforeValidator(_column_or_template)]


class PresetConfig(JudgeConfig):
    """A judge with a prompt of ours and one formula."""

    prompt_names: ClassVar[frozenset[str]] = frozenset({VERDICT_SCHEMA, FENCE, *INPUTS})

    name: str = Field("", max_length=120, description="Default: the last part of the preset's name.")
    type: Literal["preset"] = "preset"
    preset: PresetName
    # Where an eval leaves these out, the preset's file fills them in.
    prompt: JudgePrompt = Field(
        default_factory=lambda: PromptConfig(user=""),
        description="In place of the preset's own: `verica presets show`.",
    )
    pass_at: float = Field(
        default_factory=lambda: 1.0, strict=True, gt=0, le=1, description="The least score that passes."
    )
    question: Input = Field(None, description="A column or a template; default: `{{ question }}`.")
    answer: Input = Field(None, description="A column or a template; default: `{{ output.text }}`.")
    contexts: Input = Field(None, description="A column or a template, a list or a text; default: `{{ contexts }}`.")
    reference: Input = Field(None, description="A column or a template; default: `{{ reference }}`.")

    @model_validator(mode="before")
    @classmethod
    def _filled_in(cls, written: Any) -> Any:
        if not isinstance(written, dict) or written.get("preset") not in ASPECTS:
            return written
        preset = written["preset"]
        needs = ASPECTS[preset].needs
        unused = [name for name in INPUTS if written.get(name) is not None and name not in needs]
        if unused:
            raise ValueError(f"{preset} does not look at `{unused[0]}`; it looks at: {', '.join(needs)}")
        inputs = {name: INPUTS[name] for name in needs}
        return {"name": preset.rpartition("/")[2], **preset_keys(preset), **inputs, **written}


class Inputs:
    """What one case gives to a preset."""

    def __init__(self, config: PresetConfig, aspect: Aspect) -> None:
        self._preset = config.preset
        self._aspect = aspect
        self._templates = {name: compile_template(getattr(config, name)) for name in aspect.needs}

    def of(self, scope: Scope) -> dict[str, Any] | Grade:
        """The texts, and the contexts as a list of chunks (or sentences, where units are counted); or the verdict
        where one of them is blank.

        Raises:
            MissingOutput: the output has no such part.
        """
        found: dict[str, Any] = {}
        for name, template in self._templates.items():
            value = template.value(scope)
            found[name] = _chunks(value, split=self._aspect.counted) if name == "contexts" else text_of(value)
            if _is_blank(found[name]):
                where = template.source.strip()
                if name == "contexts" and self._aspect.without_contexts:
                    return Grade.of(False, f"{self._preset} is 0: no contexts ({where} is empty)", score=0.0)
                return Grade.na(f"{self._preset} needs `{name}`, and {where} is empty for this case")
        return found


def _chunks(value: Any, *, split: bool) -> list[str]:
    """Contexts as chunks: the elements of an array, also one written as JSON text; else the text, whole or split."""
    if isinstance(value, str):
        reading = read_json(value)
        value = value if reading.problem is not None or not isinstance(reading.value, list) else reading.value
    if isinstance(value, (list, tuple)):
        return [text for text in map(text_of, value) if not is_missing(text)]
    text = text_of(value)
    if is_missing(text):
        return []
    return (sentences(text) or [text]) if split else [text]


def _is_blank(value: str | list[str]) -> bool:
    return is_missing(value) if isinstance(value, str) else not value


class Preset:
    """A preset that is ready."""

    def __init__(self, config: PresetConfig) -> None:
        self._name = config.preset
        self._aspect = ASPECTS[config.preset]
        self._inputs = Inputs(config, self._aspect)
        self._pass_at = config.pass_at
        self._question = Question(config, self._aspect.schema(), {"preset": config.preset})
        self.model = self._question.model
        self.judge_hash = self._question.identity

    async def judge(self, case: Case, output: Output, ask: Ask) -> Grade:
        inputs = self._inputs.of(Scope(case, output))
        if isinstance(inputs, Grade):
            return inputs
        ledger = Ledger(self.model)
        try:
            requests = [
                self._question.request(case, output, sample, {**inputs, FENCE: fence_for(inputs, sample)})
                for sample in range(self._question.samples)
            ]
            units = len(inputs.get("contexts", ()))
            findings = await verdicts_of(requests, lambda completion: self._read(completion, units), ask, ledger)
            return self._grade(_agreed(findings), findings, ledger)
        except NotJudged as failure:
            return ledger.error(failure)

    def _read(self, completion: Completion, units: int) -> Finding:
        fields, raw = read_object(completion, self._question.answer)
        miscounted = self._aspect.miscounted(fields, units)
        if miscounted is not None:
            raise NoVerdict(SCHEMA, miscounted, raw)
        return self._aspect.read(fields)

    def _grade(self, agreed: list[Finding], findings: list[Finding], ledger: Ledger) -> Grade:
        """agreed: the findings that count."""
        shown = agreed[0]
        more: dict[str, Any] = {shown.aspect.parts: [dict(part) for part in shown.parts]}
        if shown.aspect.non_committal:
            more[NON_COMMITTAL] = shown.non_committal
        if len(findings) > 1:
            more["samples"] = [_sample(finding) for finding in findings]
        common: dict[str, Any] = {
            "reasoning": shown.words() or None,
            "details": ledger.details(preset=self._name, **more),
            "judge_hash": self.judge_hash,
            **ledger.on_grade(),
        }
        if shown.kind == "nothing":
            return Grade.na(f"{self._name}: the judge found no {shown.aspect.parts}: 0 of 0 is no score", **common)
        score = median(agreed)
        label = {"label": NON_COMMITTAL} if shown.non_committal else {}
        return Grade.of(
            score >= _exact(self._pass_at), self._explained(agreed, findings), score=float(score), **label, **common
        )

    def _explained(self, agreed: list[Finding], findings: list[Finding]) -> str:
        shown, score = agreed[0], median(agreed)
        said = f"{self._name} is {float(score):.3g}"
        if len(findings) > 1:
            scores = [float(finding.score) for finding in agreed]
            said += f" (the median of {len(agreed)} answers from {min(scores):.3g} to {max(scores):.3g})"
        if shown.non_committal:
            said += ": the answer commits itself to nothing"
        else:
            said += f": {shown.held} of {len(shown.parts)} {shown.aspect.told}"
            if shown.failing:
                said += f"; not: {', '.join(excerpt(str(part), 80) for part in shown.failing[:3])}"
                said += f" and {len(shown.failing) - 3} more" if len(shown.failing) > 3 else ""
        return f"{said}; wanted at least {self._pass_at:g}"


def fence_for(inputs: Mapping[str, Any], sample: int) -> str:
    """A mark that nothing inside the inputs can hold, another one for each request.

    It is drawn from a hash of all that the judge will read: as unknown to whoever wrote any of it as a random one (a
    text would have to hold a part of its own hash), and the same when the same question is asked again, so that its
    stored answer is found.
    """
    texts = [text for value in inputs.values() for text in ([value] if isinstance(value, str) else value)]
    for turn in range(1000):
        fence = content_hash([dict(inputs), sample, turn])[:20]
        if not any(fence in text for text in texts):
            return fence
    raise AssertionError("a text holds a thousand hashes of itself")


def _agreed(findings: Sequence[Finding]) -> list[Finding]:
    """Those of the most frequent kind; the first is the one whose score is nearest to the median.

    Raises:
        NotJudged: two kinds are equally frequent.
    """
    counts = Counter(finding.kind for finding in findings).most_common()
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        spread = ", ".join(f"{kind} {count}" for kind, count in counts)
        raise NotJudged(NO_MAJORITY, f"{len(findings)} answers disagree on whether there is a score: {spread}", spread)
    agreed = [finding for finding in findings if finding.kind == counts[0][0]]
    if counts[0][0] == "nothing":
        return agreed
    middle = median(agreed)
    return sorted(agreed, key=lambda finding: abs(finding.score - middle))


def _sample(finding: Finding) -> dict[str, Any]:
    parts = [dict(part) for part in finding.parts]
    return {"score": float(finding.score) if finding.kind == "score" else None, "kind": finding.kind, "parts": parts}


def _exact(number: float) -> Fraction:
    """The decimal that was written: 0.7 is seven tenths, as 7 of 10 is."""
    return Fraction(str(number))


def build(config: PresetConfig, context: BuildContext) -> Judge:
    return Preset(config)


KIND = GraderKind(
    "preset", PresetConfig, build, "model", "Asks a model with a prompt of ours: rag/faithfulness and three more."
)
