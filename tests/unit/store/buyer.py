"""A process that buys answers as the engine does: look, claim, look again, buy, store. Run by test_processes."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from pytest_verica.store.responses import ResponseStore
from tests.unit.store.answers import answer, question


def buy(path: Path, receipts: Path, name: str, questions: int) -> None:
    store = ResponseStore(path)
    requests = [question(str(number)) for number in range(questions)]
    random.Random(name).shuffle(requests)
    with receipts.open("a") as bought:
        while requests:
            batch, requests = requests[:7], requests[7:]
            keys = [request.key for request in batch]
            missing = set(keys) - set(store.get_many(keys))
            ours = store.claim_many(missing)
            come = set(store.get_many(ours))
            buying = [request for request in batch if request.key in ours - come]
            store.release_many(come)
            for request in buying:
                bought.write(f"{request.key}\n")
            time.sleep(0.001)  # the call
            store.put_many([(request, answer(request.key)) for request in buying])
            requests += [request for request in batch if request.key in missing - ours]
    assert store.warnings == []
    store.close()


def hold(path: Path, keys: list[str]) -> None:
    """Claims and says so, then waits to be killed."""
    store = ResponseStore(path)
    print(*sorted(store.claim_many(keys)), flush=True)
    time.sleep(600)


if __name__ == "__main__":
    if sys.argv[1] == "hold":
        hold(Path(sys.argv[2]), sys.argv[3:])
    else:
        buy(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
