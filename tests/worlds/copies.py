"""One side puts a copy of an element beside it and edits one of the two; the other side edits the element.

Git's lines cannot tell a copy from the original: they may put the other side's edit into the copy. The
truth is the merge by identity of `worlds.identity`, for which a copy is a new element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from worlds.identity import CLASH, Element, Elements, Truth, element, truth

FIELDS = ("", "0", "4")  # which field is edited; none, the first or the last one
BASES = {
    "alone": (element("x"),),
    "behind another": (element("left"), element("x")),
    "before another": (element("x"), element("right")),
}


@dataclass(frozen=True)
class Sides:
    """A base and its two sides: who copies is the first one."""

    name: str
    base: Elements
    copying: Elements
    other: Elements
    is_riddle: bool  # nothing says which of two is the original

    def truth(self, *, ordered: bool, gaps: bool) -> Truth:
        """What the merge has to come to."""
        if self.is_riddle and self.other != self.base:
            return CLASH
        return truth(self.base, self.copying, self.other, ordered=ordered, gaps=gaps)


def _edited(each: Element, field: str, number: int) -> Element:
    leaves = ((n, f"edit-{number}" if n == field else value) for n, value in each.leaves)
    return replace(each, leaves=tuple(leaves))


def _copying(base: Elements) -> Iterator[tuple[str, Elements, bool]]:
    """The versions of the side that copies, each with its name."""
    (x,) = (each for each in base if each.who == "x")
    names = {"": ("x", "copy"), " and renamed": ("x-2", "x-3")}
    for is_above, own, others, renamed in product((True, False), FIELDS, FIELDS, names):
        if renamed and (own or others):
            continue  # the one that is more like the original may be taken for it
        key, name = names[renamed]
        pair = (
            _edited(replace(x, key=key), own, 1),
            _edited(Element("copy", name, x.leaves), others, 1),
        )
        beside = pair[::-1] if is_above else pair
        version = tuple(e for each in base for e in (beside if each is x else (each,)))
        what = f"copy {'above' if is_above else 'below'}{renamed}, {own} {others} edited"
        yield what, version, bool(renamed)


def _at(change: Callable[[Element], Element]) -> Callable[[Elements], Elements]:
    return lambda base: tuple(change(each) if each.who == "x" else each for each in base)


OTHERS: dict[str, Callable[[Elements], Elements]] = {
    "keep": _at(lambda each: each),
    "edit the first": _at(lambda each: _edited(each, "0", 2)),
    "edit the first alike": _at(lambda each: _edited(each, "0", 1)),
    "edit the last": _at(lambda each: _edited(each, "4", 2)),
    "edit the middle": _at(lambda each: _edited(each, "1", 2)),
    "edit the ends": _at(lambda each: _edited(_edited(each, "0", 2), "4", 2)),
    "add a field": _at(lambda each: replace(each, leaves=(*each.leaves, ("5", "5-new")))),
    "drop a field": _at(lambda each: replace(each, leaves=each.leaves[:1] + each.leaves[2:])),
    "delete": lambda base: tuple(each for each in base if each.who != "x"),
}


def worlds() -> Iterator[Sides]:
    """Every pair of edits."""
    for where, base in BASES.items():
        for what, copying, is_riddle in _copying(base):
            for other, change in OTHERS.items():
                yield Sides(f"{where}: {what}; {other}", base, copying, change(base), is_riddle)


# -- a resource with two routes, both sides of which write another timeout

HEAD = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata:\n  name: {}\nspec:\n"
ROUTES = {
    "routes with names": (
        "  http:\n  - name: a\n    timeout: 5s\n    host: x\n  - name: b\n    timeout: 5s\n    host: y\n"
    ),
    "routes without names": (
        "  http:\n  - match:\n    - uri:\n        prefix: /a\n    timeout: 5s\n    route:\n    - host: a\n"
        "  - route:\n    - host: shop\n    timeout: 5s\n"
    ),
    "a field above": "  timeout: 5s\n  retries: 3\n",
    "a field below": "  retries: 3\n  timeout: 5s\n",
}


def two_routes() -> Iterator[tuple[str, str, str, str]]:
    """A copy above or below, and `6s` against `7s` in the first or the last timeout of the base."""
    for name, routes in ROUTES.items():
        base = HEAD.format("shop") + routes
        for copied, is_above, is_first in product(("5s", "6s"), (True, False), (True, False)):
            at = base.find("5s") if is_first else base.rfind("5s")
            ours, theirs = (base[:at] + value + base[at + 2 :] for value in ("6s", "7s"))
            copy = HEAD.format("canary") + routes.replace("5s", copied, 1)
            both = (copy, ours) if is_above else (ours, copy)
            where = "above" if is_above else "below"
            which = "first" if is_first else "last"
            yield f"{name}, {copied} {where}, {which}", base, "---\n".join(both), theirs
