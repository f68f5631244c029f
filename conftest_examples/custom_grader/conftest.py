"""A type of criterion of our own, `short_sentences`: none has more words than `most_words`."""


def pytest_verica_graders():
    # Imported here: a plain `pytest` run never asks for graders, and stays as quick as it was.
    from pytest_verica import Grade
    from pytest_verica.evals.criterion import CriterionConfig
    from pytest_verica.graders.protocol import GraderKind

    class Config(CriterionConfig):  # what an eval may write, beside `name`, `negate` and `only_if`
        most_words: int

    class ShortSentences:
        def __init__(self, config, context):
            self.most = config.most_words

        def grade(self, case, output):
            longest = max(output.text.split("."), key=lambda sentence: len(sentence.split())).strip()
            found = f"the longest sentence has {len(longest.split())} words; wanted at most {self.most}: {longest!r}"
            return Grade.of(len(longest.split()) <= self.most, found)

    return [GraderKind("short_sentences", Config, ShortSentences, "inline", "Counts the words of sentences.")]
