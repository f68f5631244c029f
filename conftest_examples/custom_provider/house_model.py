"""The house's own model. This one knows opening hours, and judges whether a text holds a time of day."""

import json
import re


class Busy(Exception):
    """Ask again."""


class HouseModel:
    calls = 0

    def ask(self, text, wants_json):
        """Its answer, with the tokens read and written."""
        HouseModel.calls += 1
        if HouseModel.calls == 2:
            raise Busy("the model is busy")
        if wants_json:
            good = re.search(r"\d+:\d\d", text) is not None
            answer = json.dumps({"reasoning": "I looked for a time.", "label": "yes" if good else "no"})
        else:
            day = "Sunday" if "Sunday" in text else "a weekday"
            answer = "We are closed on Sunday." if day == "Sunday" else f"On {day} we open at 9:00."
        return answer, len(text) // 4, len(answer) // 4
