"""Every pair of a chart's versions and of its changelogs, and what the policies make of them.

The truth is written down anew: numbers are read with a regular expression, and a changelog is taken
whole or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

RULES = [("version", "rebump"), ("annotations[artifacthub.io/changes]", "mine")]
ATTRIBUTE = ",".join(f"{field}:{policy}" for field, policy in RULES)
CHANGES = "annotations[artifacthub.io/changes]"
FORM = re.compile(r"(v?)(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([A-Za-z]+)\.(0|[1-9]\d*))?")

VERSIONS = [
    ("1.2.0", "1.2.1", "1.3.0"),
    ("1.2.0", "1.3.0", "1.2.5"),
    ("1.2.0", "2.0.0", "2.1.0"),
    ("1.2.0", "1.2.1", "1.2.1"),  # both alike
    ("1.2.0", "1.2.0", "1.3.0"),  # one side alone
    ("1.2.0", "1.3.0", "1.2.0"),
    ("1.2.0", "1.1.0", "1.3.0"),  # one went back
    ("v1.2.0", "v1.2.1", "v1.2.9"),
    ("1.2.0", "v1.2.1", "1.3.0"),
    ("2.3.0-beta.3", "2.3.0-beta.4", "2.3.0-beta.5"),
    ("2.3.0-beta.3", "2.3.0-beta.12", "2.3.0-beta.5"),
    ("2.3.0-beta.3", "2.3.0-beta.2", "2.3.0-beta.5"),
    ("2.3.0-beta.3", "2.3.0-rc.1", "2.3.0-beta.5"),
    ("2.3.0-beta.3", "2.3.0", "2.3.0-beta.5"),
    ("2.3.0-beta.3", "2.4.0-beta.1", "2.3.0-beta.5"),
    ("2.3.0-beta3", "2.3.0-beta4", "2.3.0-beta5"),
    ("1.2.0+a", "1.2.1+a", "1.3.0+a"),
]
LISTS: dict[str, tuple[str | None, str | None, str | None]] = {
    "replaced": ("- old", "- one", "- two"),
    "appended": ("- old", "- old\n- one", "- old\n- two"),
    "replaced and appended": ("- old", "- one", "- old\n- two"),
    "in two places": ("- a\n- b\n- c", "- a1\n- b\n- c", "- a2\n- b\n- c\n- d"),
    "added": (None, "- one", "- two"),
    "on one line": ("old", "one", "two"),
    "deleted": ("- old", None, "- two"),
    "of one side": ("- old", "- old", "- two"),
    "alike": ("- old", "- two", "- two"),
}


@dataclass(frozen=True, slots=True)
class Chart:
    """Three versions of a chart: of base, of one branch and of the other one."""

    versions: tuple[str, str, str]
    changes: str  # a key of `LISTS`
    is_below: bool  # whether the annotations are below the version

    def text(self, number: int) -> str:
        """Return the chart of base (0), of one branch (1) or of the other one (2)."""
        return self.written(self.versions[number], LISTS[self.changes][number])

    def written(self, version: str, changes: str | None) -> str:
        said = f"version: {version}  # see RELEASING\n"
        notes = "annotations:\n  category: x\n"
        if changes is not None:
            lines = f"|\n    {changes}".replace("\n-", "\n    -") if changes[0] == "-" else changes
            notes += f"  # for the hub\n  artifacthub.io/changes: {lines}\n"
        notes += "  licenses: x\n"
        return "apiVersion: v2\nname: x\n" + (
            said + "type: x\n" + notes if self.is_below else notes + said
        )

    def truth(self, mine: int, *, with_changes: bool) -> tuple[str, set[str]]:
        """Return the merged chart, and the fields in conflict; then the text means nothing.

        `mine` is the number of the branch that goes on top, or 0. `with_changes` says whether it is
        known whose changelog is new.
        """
        base, one, two = self.versions
        left: set[str] = set()
        version = standing(base, one, two)
        is_on_top = False
        if version is None:
            version = on_top(base, *((one, two) if mine == 1 else (two, one))) if mine else None
            is_on_top = version is not None
            left |= set() if is_on_top else {"version"}
        lists = LISTS[self.changes]
        changes = standing(*lists)
        if changes is None and not (lists[1] and lists[2] and is_on_top and with_changes):
            left.add(CHANGES)
        elif changes is None:
            changes = lists[mine]
        return self.written(version or "", changes), left


def standing(base: str | None, one: str | None, two: str | None) -> str | None:
    """Return what no policy is needed for: the value of the side that alone changed it."""
    if one == two or base == two:
        return one
    return two if base == one else None


def on_top(base: str, mine: str, other: str) -> str | None:
    """Return the version above both, or None."""
    found = [FORM.fullmatch(text) for text in (base, mine, other)]
    if None in found:
        return None
    start, own, others = (match.groups() for match in found if match is not None)
    if len({of[0] for of in (start, own, others)}) > 1:
        return None
    if any(of[4] for of in (start, own, others)):  # prereleases
        if len({of[:5] for of in (start, own, others)}) > 1:
            return None
        last, ours, theirs = (int(of[5]) for of in (start, own, others))
        if ours <= last or theirs <= last:
            return None
        return mine if ours > theirs else f"{other.rpartition('.')[0]}.{theirs + 1}"
    numbers = [[int(number) for number in of[1:4]] for of in (start, own, others)]
    if numbers[1] <= numbers[0] or numbers[2] <= numbers[0]:
        return None
    if numbers[1] > numbers[2]:
        return mine
    kind = next(n for n in range(3) if numbers[0][n] != numbers[1][n])
    new = [*numbers[2][:kind], numbers[2][kind] + 1, 0, 0][:3]
    return start[0] + ".".join(map(str, new))


def charts() -> Iterator[Chart]:
    for versions, changes, is_below in product(VERSIONS, LISTS, (True, False)):
        yield Chart(versions, changes, is_below)
