"""Lists of three elements that two sides rearrange, edit and extend, with all lawful results.

What is lawful is computed from the edits: an element is a letter, and a digit behind it says who
edited it. Nothing here knows how merges are made or checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations, product

Word = tuple[str, ...]
OLD: Word = ("a", "b", "c")
NEW = "n"


# -- what sides do


def sides(mark: str, *, edits: int = 1, new: int = 1) -> list[Word]:
    """Every arrangement of some elements, with up to so many edits and new elements."""
    found = []
    for size in range(4):
        for word in permutations(OLD, size):
            for number in range(min(edits, size) + 1):
                for edited in combinations(range(size), number):
                    made = [x + mark * (n in edited) for n, x in enumerate(word)]
                    found.append(tuple(made))
                    if new:
                        found += [(*made[:n], NEW, *made[n:]) for n in range(size + 1)]
    return found


def read(text: str) -> Word:
    """A version, from its letters with their digits."""
    found: list[str] = []
    for char in text:
        if char.isdigit():
            found[-1] += char
        else:
            found.append(char)
    return tuple(found)


def bare(word: Word) -> Word:
    """The elements of base in a version, without what was edited in them."""
    return tuple(x[0] for x in word if x != NEW)


# -- what is lawful


def lawful(ours: Word, theirs: Word, result: Word, ordered: bool = True) -> bool:
    """Whether a merge of `abc` with both sides may come to this."""
    wanted = merged_elements(ours, theirs)
    if wanted is None or sorted(x for x in result if x != NEW) != sorted(wanted):
        return False
    if result.count(NEW) != newcomers(ours, theirs):
        return False
    if result.count(NEW) == 2 and not {*OLD} & {*result[result.index(NEW) : _last(result)]}:
        return False  # something that base has stands between the two, or they are one
    there = bare(result)
    return not ordered or all(
        there.index(x) < there.index(y) for x, y in orders(ours, theirs) if {x, y} <= {*there}
    )


def _last(result: Word) -> int:
    return len(result) - result[::-1].index(NEW)


def merged_elements(ours: Word, theirs: Word) -> list[str] | None:
    """The elements of base that a merge has, as it has them; nothing where they contradict."""
    found = []
    for x in OLD:
        mine, yours = ([y for y in side if y[0] == x] for side in (ours, theirs))
        both = {*mine, *yours}
        if len(mine) + len(yours) < 2:
            if both - {x}:
                return None  # edited here, taken away there
        elif len(both) > 1 and x not in both:
            return None  # edited differently
        else:
            found.append(max(both, key=len))
    return found


def orders(ours: Word, theirs: Word) -> Iterator[tuple[str, str]]:
    """The pairs `x` before `y` of what all versions have: whoever turned them is followed."""
    mine, yours = bare(ours), bare(theirs)
    for x, y in combinations([x for x in OLD if x in mine and x in yours], 2):
        turned = mine.index(x) > mine.index(y) or yours.index(x) > yours.index(y)
        yield (y, x) if turned else (x, y)


def newcomers(ours: Word, theirs: Word) -> int:
    """How often the new element is there: once if both put it beside the same neighbour."""
    if NEW not in ours or NEW not in theirs:
        return int(NEW in ours or NEW in theirs)
    beside = [_next(side, lambda _: True) for side in (ours, theirs)]
    if any(x == y for x, y in zip(*beside, strict=True)):
        return 1
    for mine, yours in product(unmoved(bare(ours)), unmoved(bare(theirs))):
        stay = mine & yours
        beside = [_next(side, stay.__contains__) for side in (ours, theirs)]
        if any(x == y for x, y in zip(*beside, strict=True)):
            return 1
    return 2


def _next(side: Word, counts: Callable[[str], bool]) -> list[str]:
    """The next elements before and behind the new one, of those that count; or the ends."""
    at = side.index(NEW)
    before = [x[0] for x in side[:at] if counts(x[0])]
    behind = [x[0] for x in side[at + 1 :] if counts(x[0])]
    return [before[-1] if before else "start", behind[0] if behind else "end"]


@cache
def unmoved(side: Word) -> list[set[str]]:
    """The elements of each longest common order of base and a side."""
    for size in range(len(side), -1, -1):
        found = [set(w) for w in combinations(OLD, size) if w in combinations(side, size)]
        if found:
            return found
    return []


def candidates(ours: Word, theirs: Word) -> Iterator[Word]:
    """Every result in which an element is absent or as a version has it, and the new one 0 to 2."""
    versions = [["", *sorted({y for y in (x, *ours, *theirs) if y[0] == x})] for x in OLD]
    for chosen in product(*versions):
        for count in range(3):
            yield from set(permutations([*filter(None, chosen), *[NEW] * count]))


# -- the forms


@dataclass(frozen=True)
class Form:
    """A list in a file that is otherwise the same in all versions."""

    before: str
    item: Callable[[str, str], str]  # the lines of an element, from its letter and its edit
    after: str = ""
    ordered: bool = True

    def write(self, word: Word) -> str:
        """The file; an element is edited where a digit stands behind its letter."""
        if not word:
            return self.before.rstrip("\n") + " []\n" + self.after
        return self.before + "".join(self.item(x[0], x[1:] or "0") for x in word) + self.after


FORMS = {
    "options": Form(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n"
        "  - name: app\n    args:\n",
        lambda x, edit: f"    - --level-{x}={edit}\n",
        "    tty: true\n",
    ),
    "named": Form(
        "groups:\n- name: all\n  rules:\n",
        lambda x, edit: f"  - alert: alert-{x}\n    expr: of-{x} > {edit}\n    for: 5m\n",
    ),
    "routes": Form(
        "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata:\n  name: web\n"
        "spec:\n  hosts: [web]\n  http:\n",
        lambda x, edit: (
            f"  - match: [{{uri: {{prefix: /{x}}}}}]\n    timeout: {edit}s\n"
            f"    route:\n    - destination: {{host: host-{x}, subset: of-{x}}}\n"
        ),
    ),
    "permissions": Form(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: web\n"
        "rules:\n",
        lambda x, edit: (
            f"- apiGroups: [group-{x}]\n  resources: [of-{x}, more-{x}]\n"
            f"  verbs: [get, verb-{edit}]\n"
        ),
        ordered=False,
    ),
}
