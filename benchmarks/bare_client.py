"""The floor of the reference job: what a careful programmer would write for this one job, on a bare aiohttp client.

    python bare_client.py URL CONCURRENCY ROWS

No retries, no limits, no store, no report: nobody can be faster by much with this client.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
from suites import CLEAR, CORRECT, JUDGE, SENTENCE, SYSTEM


def verdict(key: str, shape: Mapping[str, Any]) -> dict[str, Any]:
    properties = {"reasoning": {"type": "string"}, key: shape}
    schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


LABEL = verdict("label", {"type": "string", "enum": ["correct", "incorrect"]})
SCORE = verdict("score", {"type": "number", "minimum": 1, "maximum": 5})


class Job:
    def __init__(self, session: aiohttp.ClientSession, url: str, concurrency: int) -> None:
        self.session = session
        self.url = f"{url}/chat/completions"
        self.slots = asyncio.Semaphore(concurrency)

    async def ask(self, **body: Any) -> str:
        async with self.slots, self.session.post(self.url, json={"temperature": 0, **body}) as reply:
            reply.raise_for_status()
            answer: str = (await reply.json())["choices"][0]["message"]["content"]
            return answer

    async def judge(self, row: Mapping[str, str], answer: str, ask: str, shape: Mapping[str, Any]) -> Any:
        prompt = JUDGE.format(question=row["question"], expected=row["expected"], answer=answer, ask=ask)
        messages = [{"role": "user", "content": prompt}]
        return json.loads(await self.ask(model="fake-judge", messages=messages, response_format=shape))

    async def row(self, row: Mapping[str, str]) -> list[bool]:
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": row["question"]}]
        answer = await self.ask(model="fake-1", messages=messages)
        label, score = await asyncio.gather(
            self.judge(row, answer, CORRECT, LABEL), self.judge(row, answer, CLEAR, SCORE)
        )
        stated, sentence = row["expected"] in answer, re.search(SENTENCE, answer) is not None
        return [stated, sentence, label["label"] == "correct", score["score"] >= 3]


async def main(url: str, concurrency: int, rows: Path) -> None:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers={"authorization": "Bearer none"}) as session:
        job = Job(session, url, concurrency)
        found = await asyncio.gather(*(job.row(json.loads(line)) for line in rows.open()))
    print(f"{sum(map(sum, found))} of {sum(map(len, found))} passed")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
