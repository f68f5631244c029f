"""IFEval's instructions as criteria: each kind and its arguments become the keys of one or more of them.

All criteria of an instruction must pass. Definitions: Zhou et al. 2023, "Instruction-Following Evaluation for Large
Language Models", and M-IFEval for Spanish. An instruction counts as not followed where the answer is blank.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.published.languages import is_written_in

Keys = dict[str, Any]
Arguments = Mapping[str, Any]

SINGLE, BLANK_SINGLE = r"\*[^\n*]*[^\s*][^\n*]*\*", r"\*[^\S\n]*\*"
DOUBLE, BLANK_DOUBLE = r"\*\*[^\n*]*[^\s*][^\n*]*\*\*", r"\*\*[^\S\n]*\*\*"
PARAGRAPH = r"(?:(?!\n\n).)*+"


def text(**keys: Any) -> Keys:
    return {"type": "text_check", **keys}


def matches(pattern: str, flags: str = "s", *, wanted: bool = True) -> Keys:
    return text(**{"matches" if wanted else "not_matches": pattern, "flags": flags, "timeout_ms": 1000})


def times(found: str, least: int, passed_over: str = "") -> str:
    """At least so many disjoint finds, from the left, of `found`; `passed_over` is consumed and not counted. What was
    found is never given back (`(?>…)`, `*+`), so that it takes one pass."""
    other = f"{passed_over}|" if passed_over else ""
    return rf"(?>(?:{other}(?!{found}).)*+{found}){{{least}}}"


def counted(found: str, arguments: Arguments, number: str, relation: str | None = "relation", flags: str = "s") -> Keys:
    """How many disjoint finds: `at least` and `al menos` so many, `less than` fewer, `como máximo` not more."""
    limit = arguments[number]
    said = "at least" if relation is None else arguments.get(relation, "at least")
    if said in ("at least", "al menos"):
        return matches(rf"\A{times(found, limit)}", flags)
    return matches(rf"\A{times(found, limit if said == 'less than' else limit + 1)}", flags, wanted=False)


def exactly(found: str, count: int, flags: str = "s") -> list[Keys]:
    return [
        matches(rf"\A{times(found, count)}", flags),
        matches(rf"\A{times(found, count + 1)}", flags, wanted=False),
    ]


def number(expression: str, arguments: Arguments, limit: str, relation: str) -> list[Keys]:
    comparison = {"less than": "less", "como máximo": "less_or_equal"}.get(arguments[relation], "greater_or_equal")
    return [{"type": "number_check", "value": f"{{{{ {expression} }}}}", comparison: arguments[limit]}]


# Keywords and letters


def keywords(a: Arguments) -> list[Keys]:
    return [text(contains=a["keywords"], ignore_case=True)]


def forbidden_words(a: Arguments) -> list[Keys]:
    words = "|".join(map(re.escape, a["forbidden_words"]))
    return [matches(rf"\b(?:{words})\b", "i", wanted=False)]


def frequency(a: Arguments) -> list[Keys]:
    return number(f"output.text.lower().count({a['keyword'].strip().lower()!r})", a, "frequency", "relation")


def letter_frequency(a: Arguments) -> list[Keys]:
    return number(f"output.text.lower().count({a['letter'].lower()!r})", a, "let_frequency", "let_relation")


def words_with(letters: str, argument: str) -> Callable[[Arguments], list[Keys]]:
    word = rf"[\w-]*[{letters}][\w-]*+"

    def keys(a: Arguments) -> list[Keys]:
        return [counted(word, a, argument)] if "relation" in a else exactly(word, a[argument])

    return keys


# Lengths


def words(a: Arguments) -> list[Keys]:
    return [counted(r"\w++", a, "num_words")]


def sentences(a: Arguments) -> list[Keys]:
    limit, relation = a["num_sentences"], a["relation"]
    bounds = {"less than": {"max": limit - 1}, "como máximo": {"max": limit}}.get(relation, {"min": limit})
    return [text(length={"unit": "sentences", **bounds})]


def paragraphs(a: Arguments) -> list[Keys]:
    """Between dividers of three asterisks; only the first and the last one may be blank, and then do not count."""
    one = r"(?:(?!\*{3})\s)*+(?!\*{3})\S(?:(?!\*{3}).)*+"
    return [matches(rf"\A(?:\s*\*{{3}})?{one}(?:\*{{3}}{one}){{{a['num_paragraphs'] - 1}}}(?:\*{{3}}\s*)?\Z")]


def nth_paragraph(a: Arguments) -> list[Keys]:
    """Between empty lines; blank ones do not count for their number."""
    first = re.escape(a["first_word"])
    before = rf"(?:{PARAGRAPH}\n\n){{{a['nth_paragraph'] - 1}}}"
    one = rf"(?:\A|\n\n)(?=(?:(?!\n\n)\s)*+(?!\n\n)\S){PARAGRAPH}"
    return [
        *exactly(one, a["num_paragraphs"]),
        matches(rf"\A{before}(?:(?!\n\n)\s)*'*\"*{first}(?=[.,?!'\"\s]|\Z)", "is"),
    ]


# Formats


def placeholders(a: Arguments) -> list[Keys]:
    return [counted(r"\[[^\n]*?\]", a, "num_placeholders", None)]


def bullets(*marks: str) -> Callable[[Arguments], list[Keys]]:
    return lambda a: exactly(rf"^\s*(?:{'|'.join(marks)})[^\n]*$", a["num_bullets"], "ms")


def highlights(a: Arguments) -> list[Keys]:
    """Between single asterisks and between double ones: looked for apart, and added up. Blank ones do not count."""
    least = a["num_highlights"]
    ways = [
        rf"(?={times(SINGLE, n, passed_over=BLANK_SINGLE)})(?={times(DOUBLE, least - n, passed_over=BLANK_DOUBLE)})"
        for n in range(least + 1)
    ]
    return [matches(rf"\A(?:{'|'.join(ways)})")]


def sections(a: Arguments) -> list[Keys]:
    return [counted(rf"{re.escape(a['section_spliter'].strip())}\s?\d+", a, "num_sections", None)]


def two_responses(a: Arguments) -> list[Keys]:
    one = r"(?:(?!\*{6})\s)*+(?!\*{6})\S(?:(?!\*{6}).)*+"
    ends = r"(?:\*{6}\s*)?\Z"
    return [
        matches(rf"\A(?:\s*\*{{6}})?{one}\*{{6}}{one}{ends}"),
        matches(rf"\A(?:\s*\*{{6}})?\s*(\S(?:(?!\*{{6}}).)*?)\s*\*{{6}}\s*\1\s*{ends}", wanted=False),
    ]


def ends_with(after: str) -> Callable[[Arguments], list[Keys]]:
    return lambda a: [matches(rf"{re.escape(a['end_phrase'].strip())}{after}\Z", "is")]


POSTSCRIPTS = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\.", "P.D.": r"p\.\s?d\.", "Nota": "nota"}


def postscript(a: Arguments) -> list[Keys]:
    return [matches(POSTSCRIPTS[a["postscript_marker"]], "i")]


# Case and language


def language(code: str) -> Keys:
    return {"type": "python_check", "python": functools.partial(is_written_in, code)}


def all_in(wanted: str, unwanted: str, code: str) -> Callable[[Arguments], list[Keys]]:
    """As str.isupper and str.islower: a letter of the one case, and none of any other."""
    return lambda a: [
        matches(rf"\p{{{wanted}}}"),
        matches(rf"\p{{{unwanted}}}|\p{{Lt}}", wanted=False),
        language(code),
    ]


def capital_words(a: Arguments) -> list[Keys]:
    word = r"(?<![\w-])(?=[\w-]*\p{Lu})[^\W\p{Ll}]+(?:-[^\W\p{Ll}]+)*+(?![\w-])"
    return [counted(word, a, "capital_frequency", "capital_relation")]


def always(*keys: Keys) -> Callable[[Arguments], list[Keys]]:
    return lambda a: list(keys)


IN_BOTH: Mapping[str, Callable[[Arguments], list[Keys]]] = {
    "change_case:capital_word_frequency": capital_words,
    "combination:repeat_prompt": lambda a: [text(starts_with=a["prompt_to_repeat"], ignore_case=True, strip=True)],
    "combination:two_responses": two_responses,
    "detectable_content:number_placeholders": placeholders,
    "detectable_content:postscript": postscript,
    "detectable_format:json_format": always({"type": "json_check", "valid": True}),
    "detectable_format:multiple_sections": sections,
    "detectable_format:number_highlighted_sections": highlights,
    "detectable_format:title": always(matches(r"<<(?![\s<>]*>>)[^\n]+>>")),
    "keywords:existence": keywords,
    "keywords:forbidden_words": forbidden_words,
    "keywords:frequency": frequency,
    "keywords:letter_frequency": letter_frequency,
    "language:response_language": lambda a: [language(a["language"])],
    "length_constraints:nth_paragraph_first_word": nth_paragraph,
    "length_constraints:number_paragraphs": paragraphs,
    "length_constraints:number_sentences": sentences,
    "length_constraints:number_words": words,
    "punctuation:no_comma": always(text(not_contains=",")),
    "startend:quotation": always(matches(r'\A\s*".*"\s*\Z')),
}

KINDS: Mapping[str, Callable[[Arguments], list[Keys]]] = {
    **{f"en:{kind}": keys for kind, keys in IN_BOTH.items()},
    **{f"es:{kind}": keys for kind, keys in IN_BOTH.items()},
    "en:change_case:english_capital": all_in("Uppercase", "Lowercase", "en"),
    "en:change_case:english_lowercase": all_in("Lowercase", "Uppercase", "en"),
    "en:detectable_format:constrained_response": always(
        text(contains=["My answer is yes.", "My answer is no.", "My answer is maybe."], match="any")
    ),
    "en:detectable_format:number_bullet_lists": bullets(r"\*[^*]", "-"),
    "en:startend:end_checker": ends_with(r'"*\s*'),
    "es:change_case:spanish_capital": all_in("Uppercase", "Lowercase", "es"),
    "es:change_case:spanish_lowercase": all_in("Lowercase", "Uppercase", "es"),
    "es:detectable_format:constrained_response": always(text(contains=["Sí.", "No.", "Quizás."], match="any")),
    "es:detectable_format:number_bullet_lists": bullets(r"\*[^*]"),
    "es:startend:end_checker": ends_with(r"[\W_]*"),  # there a full stop may follow
    "es:punctuation:question_marks": always(matches(r"¿[¿?\s]*[^¿?\s][^?]*\?")),
    "es:punctuation:exclamation_marks": always(matches(r"¡[¡!\s]*[^¡!\s][^!]*!")),
    "es:special_character:enie": words_with("ñÑ", "let_frequency"),
    "es:special_character:dieresis": words_with("üÜ", "let_frequency"),
    "es:special_character:tildes": words_with("áéíóúÁÉÍÓÚ", "num_words"),
}


def criteria_for(instruction: str, arguments: Arguments) -> list[Keys]:
    """The keys of the criteria of one instruction, without names."""
    return KINDS[instruction]({name: value for name, value in arguments.items() if value is not None})
