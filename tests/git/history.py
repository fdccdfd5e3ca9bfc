"""A history of many merges with known outcomes, written by one `git fast-import`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import cycle

from manifests import deployment, service
from world import Repo

Files = dict[str, str]


@dataclass(frozen=True, slots=True)
class Merge:
    """The files of a merge's base, of both parents, and of what people committed."""

    name: str
    base: Files
    ours: Files
    theirs: Files
    people: Files
    counts: dict[str, int] = field(default_factory=dict)  # what a replay must add


def write_history(
    repo: Repo, merges: Iterable[Merge], authors: Sequence[str] = ("ada", "bob")
) -> None:
    """One merge after the other on `main`, by turns of the authors; each has a tree of its own."""
    stream: list[str] = []
    mark = 0
    for merge, author in zip(merges, cycle(authors), strict=False):
        base, ours, theirs, people = mark + 1, mark + 2, mark + 3, mark + 4
        stream += [
            _commit(base, f"base of {merge.name}", [mark] if mark else [], merge.base),
            _commit(ours, f"ours of {merge.name}", [base], merge.ours),
            _commit(theirs, f"theirs of {merge.name}", [base], merge.theirs),
            _commit(people, f"Merge {merge.name}", [ours, theirs], merge.people, author),
        ]
        mark = people
    repo.git("fast-import", "--quiet", stdin="".join(stream) + "done\n")
    repo.git("reset", "-q", "--hard", "main")


def _commit(mark: int, message: str, parents: list[int], files: Files, author: str = "ada") -> str:
    words = ("from", "merge")
    return (
        f"commit refs/heads/main\nmark :{mark}\n"
        f"author A <{author}@example.org> 1700000000 +0000\n"
        "committer Ada <ada@example.org> 1700000000 +0000\n"
        f"data {len(message)}\n{message}\n"
        + "".join(f"{word} :{parent}\n" for word, parent in zip(words, parents, strict=False))
        + "deleteall\n"
        + "".join(
            f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n"
            for name, text in files.items()
        )
    )


def expected(merges: Iterable[Merge]) -> Counter[str]:
    """The sums of what the merges must add to a replay's counts."""
    total: Counter[str] = Counter()
    for merge in merges:
        total.update(merge.counts)
    return total


def every_kind(number: int) -> Merge:
    """One of ten kinds of merges, by the last digit of its number."""
    return _KINDS[number % len(_KINDS)](number)


def _base(number: int) -> str:
    return deployment(name=f"app-{number}")


def _env(number: int, *env: str) -> str:
    return deployment(name=f"app-{number}", env=("A=1", *env))


def _one(number: int, name: str, texts: tuple[str, str, str, str], **counts: int) -> Merge:
    path = f"apps/app-{number}.yaml"
    files = [{path: text, "README": "the same\n"} for text in texts]
    return Merge(f"{name} {number}", files[0], files[1], files[2], files[3], {"files": 1} | counts)


def _neighbours_same_bytes(number: int) -> Merge:
    ours, theirs = _env(number, "OURS=1"), _env(number, "THEIRS=1")
    people = _env(number, "OURS=1", "THEIRS=1")
    texts = (_base(number), ours, theirs, people)
    return _one(number, "same", texts, git_conflicts=1, resolved=1, resolved_same_bytes=1)


def _neighbours_same_meaning(number: int) -> Merge:
    ours, theirs = _env(number, "OURS=1"), _env(number, "THEIRS=1")
    people = "# by people\n" + _env(number, "OURS=1", "THEIRS=1")
    texts = (_base(number), ours, theirs, people)
    return _one(number, "meaning", texts, git_conflicts=1, resolved=1, resolved_same_meaning=1)


def _neighbours_other_order(number: int) -> Merge:
    ours, theirs = _env(number, "OURS=1"), _env(number, "THEIRS=1")
    people = _env(number, "THEIRS=1", "OURS=1")
    texts = (_base(number), ours, theirs, people)
    return _one(number, "order", texts, git_conflicts=1, resolved=1, resolved_other_order=1)


def _neighbours_one_side(number: int) -> Merge:
    ours, theirs = _env(number, "OURS=1"), _env(number, "THEIRS=1")
    texts = (_base(number), ours, theirs, ours)
    return _one(number, "one side", texts, git_conflicts=1, resolved=1, resolved_different=1)


def _same_field(number: int) -> Merge:
    name = f"app-{number}"
    ours, theirs = deployment(2, name=name), deployment(3, name=name)
    return _one(
        number, "field", (_base(number), ours, theirs, theirs), git_conflicts=1, still_conflicts=1
    )


def _far_apart(number: int) -> Merge:
    name = f"app-{number}"
    ours = deployment(2, name=name)
    theirs = _env(number, "THEIRS=1")
    people = deployment(2, name=name, env=("A=1", "THEIRS=1"))
    return _one(number, "apart", (_base(number), ours, theirs, people))


def _added_twice(number: int) -> Merge:
    """Both sides add the same variable, far enough apart for git: it stands twice."""
    many = tuple(f"V{index}=1" for index in range(8))
    name = f"app-{number}"
    base = deployment(name=name, env=many)
    ours = deployment(name=name, env=("NEW=1", *many))
    theirs = deployment(name=name, env=(*many, "NEW=1"))
    both = deployment(name=name, env=("NEW=1", *many, "NEW=1"))
    return _one(
        number,
        "twice",
        (base, ours, theirs, both),
        git_broken=1,
        mended=1,
        changed=_ONCE,
        new_conflicts=1 - _ONCE,
        people_broken=1,
    )


def _template(number: int) -> Merge:
    def text(a: str, b: str) -> str:
        rows = "".join(f"  k{index}: {{{{ .Values.k{index} }}}}\n" for index in range(6))
        return f"kind: ConfigMap\n{{{{- if .Values.on }}}}\ndata:\n  a: {a}\n{rows}  b: {b}\n"

    ours, theirs, people = text("2", "1"), text("1", "2"), text("2", "2")
    return _one(number, "template", (text("1", "1"), ours, theirs, people))


def _added_by_both(number: int) -> Merge:
    path = f"net/service-{number}.yaml"
    ours = {path: service(80, f"s{number}"), "README": "x"}
    theirs = {path: service(81, f"s{number}"), "README": "x"}
    counts = {"files": 1, "git_conflicts": 1, "still_conflicts": 1}
    return Merge(f"added {number}", {"README": "x"}, ours, theirs, ours, counts)


def _nothing_in_common(number: int) -> Merge:
    """Different files, a text file that both changed, and a manifest both changed alike."""
    base = {"a.yaml": _base(1), "b.yaml": _base(2), "notes.txt": "a\n", "c.yaml": _base(3)}
    same = {"c.yaml": deployment(9, name="app-3")}
    ours = base | same | {"a.yaml": deployment(5, name="app-1"), "notes.txt": "b\n"}
    theirs = base | same | {"b.yaml": deployment(6, name="app-2"), "notes.txt": "c\n"}
    people = ours | {"b.yaml": theirs["b.yaml"]}
    return Merge(f"apart {number}", base, ours, theirs, people)


# Both sides add NEW: kmerge sees one variable, added twice with the same value.
_ONCE = 1

_KINDS = (
    _neighbours_same_bytes,
    _neighbours_same_meaning,
    _neighbours_other_order,
    _neighbours_one_side,
    _same_field,
    _far_apart,
    _added_twice,
    _template,
    _added_by_both,
    _nothing_in_common,
)
