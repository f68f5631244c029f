"""Which node ids belong to one case: told from the ids alone, because xdist's controller knows nothing else."""

from __future__ import annotations


def case_of(nodeid: str) -> str:
    """What the items of one case share: for `a.eval.yaml::case::criterion` and `test[case-criterion]` all but the
    criterion, for another parametrized test all but the last parameter, else the whole node id."""
    if nodeid.endswith("]"):
        head, dash, _ = nodeid.rpartition("-")
        if dash and "[" in head and ".eval." not in head.partition("::")[0]:
            return head
        nodeid = nodeid[: nodeid.rindex("[")] if ".eval." in nodeid.partition("::")[0] else nodeid
    path, _, rest = nodeid.partition("::")
    if ".eval." in path and "::" in rest:
        return nodeid.rpartition("::")[0]
    return nodeid
