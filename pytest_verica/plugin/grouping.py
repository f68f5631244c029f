"""Which node ids belong to one case: told from the ids alone, because xdist's controller knows nothing else."""

from __future__ import annotations


def of_eval_file(nodeid: str) -> bool:
    """Whether an item stands in an eval file, and not among a module's tests."""
    return ".eval." in nodeid.partition("::")[0]


def case_of(nodeid: str) -> str:
    """What the items of one case share: for `a.eval.yaml::case::criterion` and `test[case-criterion]` all but the
    criterion, for another parametrized test all but the last parameter, else the whole node id."""
    if nodeid.endswith("]"):
        head, dash, _ = nodeid.rpartition("-")
        if dash and "[" in head and not of_eval_file(head):
            return head
        nodeid = nodeid[: nodeid.rindex("[")] if of_eval_file(nodeid) else nodeid
    if of_eval_file(nodeid) and nodeid.count("::") > 1:
        return nodeid.rpartition("::")[0]
    return nodeid
