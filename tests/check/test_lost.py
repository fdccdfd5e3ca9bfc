"""What one version of a file has and another has not, by name."""

from __future__ import annotations

import pytest

from kmerge_git.check.merges.merged_files import differences

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  nodeName: a\n"
OTHER = POD.replace("web", "other")
CASES: list[tuple[str, str, str, tuple[str, ...]]] = [
    ("nothing", POD, POD, ()),
    ("comments and quotes", POD, POD.replace("nodeName: a", 'nodeName: "a"  # here'), ()),
    ("a field", POD, POD.replace("nodeName: a", "nodeName: b"), ("Pod/web spec.nodeName",)),
    (
        "two fields of two resources",
        f"{POD}---\n{OTHER}",
        f"{POD.replace('nodeName: a', 'nodeName: b')}---\n{OTHER}  priority: 1\n",
        ("Pod/web spec.nodeName", "Pod/other spec.priority"),
    ),
    ("a new resource", POD, f"{POD}---\n{OTHER}", ("Pod/other",)),
    ("a resource less", f"{POD}---\n{OTHER}", POD, ("Pod/other",)),
    ("no name", "a: 1\nb: 2\n", "a: 1\nb: 3\n", ("b",)),
    ("no YAML", "a: 1\n", "a: [\n", ("lines",)),
]


@pytest.mark.parametrize("why, old, new, names", CASES, ids=[case[0] for case in CASES])
def test_differences(why: str, old: str, new: str, names: tuple[str, ...]) -> None:
    assert differences(old.encode(), new.encode(), "web.yaml") == names
