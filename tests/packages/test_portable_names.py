"""Which names of a package Windows and macOS refuse."""

from __future__ import annotations

import pytest

from kmerge_git.packages.package_files import not_portable

BOTH, MAC = "macOS and Windows", "macOS"
WINDOWS = "cannot be checked out on Windows:"
DEVICE, END = "the name is reserved for a device", "the name ends with a dot or a space"
COMPOSED, APART = "\u00e9.yaml", "e\u0301.yaml"


@pytest.mark.parametrize(
    "paths, told",
    [
        (["a.yaml", "A.yaml"], [("a.yaml", f"has the same name as A.yaml on {BOTH}")]),
        (["x/1", "X/2"], [("x", f"has the same name as X on {BOTH}")]),
        (
            ["x/1", "X/1"],
            [
                ("x", f"has the same name as X on {BOTH}"),
                ("x/1", f"has the same name as X/1 on {BOTH}"),
            ],
        ),
        (["a", "A/b"], [("a", f"has the same name as A on {BOTH}")]),
        ([COMPOSED, APART], [(COMPOSED, f"has the same name as {APART} on {MAC}")]),
        ([COMPOSED.upper(), APART], [(COMPOSED.upper(), f"has the same name as {APART} on {MAC}")]),
        (["a:b/c", "a:b/d"], [("a:b", f"{WINDOWS} the name contains `:`")]),
        *(
            ([f"x{c}y"], [(f"x{c}y", f"{WINDOWS} the name contains `{c}`")])
            for c in '<>:"|?*\\\n\x1f'
        ),
        *(([name], [(name, f"{WINDOWS} {END}")]) for name in ("a.", "a ", "con.")),
        (["a./b"], [("a.", f"{WINDOWS} {END}")]),
        *(
            ([name], [(name, f"{WINDOWS} {DEVICE}")])
            for name in ("con.yaml", "CON", "nul", "aux.tar.gz", "prn .x", "com1.yml", "lpt9")
        ),
    ],
)
def test_a_name_that_is_refused(paths: list[str], told: list[tuple[str, str]]) -> None:
    assert list(not_portable(paths)) == told


@pytest.mark.parametrize(
    "path", ["a.yaml", ".a", "a b", "console.yaml", "com10", "com0", "x/con-fig", "\u00e9/a"]
)
def test_a_name_that_all_systems_take(path: str) -> None:
    assert list(not_portable([path])) == []


def test_what_was_there_before_is_not_told_again() -> None:
    old = {"a:b", "con/x", "a.yaml", "A.yaml"}
    assert list(not_portable(old, old)) == []
    assert list(not_portable({*old, "con/y"}, old)) == []
    told = [("A.YAML", f"has the same name as A.yaml on {BOTH}")]
    assert list(not_portable({*old, "A.YAML"}, old)) == told
