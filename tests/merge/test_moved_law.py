"""The referee alone stops a result with what one side moved and the other deleted or renamed."""

from __future__ import annotations

import pytest
from worlds.lines import git_lines

from kmerge_git.api import merge_files
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.referee import violations
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

Versions = tuple[str, str, str, str]


def said(base: str, ours: str, theirs: str, result: str) -> list[str]:
    """What the referee says of a result, about moves or anything else."""
    streams = [split(Source(text.encode())) for text in (base, ours, theirs, result)]
    return [f"{v.law} {v.what}" for v in violations(Three(*streams[:3]), streams[3])]


def app(*lines: str) -> str:
    """A map in a values file, between two others."""
    inside = "".join(f"  {line}\n" for line in lines)
    return f"first: 1\napp:\n{inside}last: 2\n"


def spec(init: tuple[str, ...], main: tuple[str, ...], *more: str) -> str:
    """A Pod with init containers, containers, and lines below `spec`."""
    head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  nodeName: a\n"
    lists = [
        (f"  {key}:\n", boxes) for key, boxes in (("initContainers", init), ("containers", main))
    ]
    text = "".join(key + "".join(boxes) for key, boxes in lists if boxes)
    return head + text + "".join(f"  {line}\n" for line in more)


def box(name: str, image: str = "a:1") -> str:
    """A container of two fields."""
    return f"  - name: {name}\n    image: {image}\n"


def routes(*lines: str) -> str:
    """A list whose elements have no name; the second one has these lines."""
    inside = "".join(f"    {line}\n" for line in lines)
    return f"routes:\n  - weight: 3\n    to: y\n  - match: m\n{inside}last: 2\n"


A, B, OLD, MORE = box("a"), box("b"), box("old"), box("more")
PAIR = "extra:\n  - name: a\n    image: a:1\n  - name: b\n    image: b:1\n"
KEYED = "extra:\n  a:\n    image: a:1\n  b:\n    image: b:1\n"
BELOW = "extra:\n  items:\n    - name: a\n      image: a:1\n    - name: b\n      image: b:1\n"
IN_BOTH = KEYED + BELOW.removeprefix("extra:\n")

TWO = "a:\n  m: one\n  k: 4\nz: 3\n"
OUT = "a:\n  k: 4\nz: 3\nm: one\n"
SMALL = "a:\n  m:\n    p: 1\n    q: 2\n  k: 4\nz: 3\n"
SMALL_OUT = "a:\n  k: 4\nz: 3\nm:\n  p: 1\n  q: 2\n"
CUT = "a:\n  k: 4\nz: 3\n"


def mounts(app: str, side: str) -> str:
    """Two lists of mounts, each with one of its own."""
    parts = (("app", "/t", app), ("side", "/c", side))
    return "".join(
        f"{key}:\n  volumeMounts:\n  - name: {key}\n    mountPath: {path}\n"
        + "".join(f"  {line}\n" for line in more.split("|") if line)
        for key, path, more in parts
    )


DATA = "- name: data|  mountPath: /d"
DATA9 = "- name: data|  mountPath: /d9"

# base, the side that moved it, the other side, and a result that would be wrong in silence
PLANTED: dict[str, Versions] = {
    "an entry of one line to another map, deleted there": (TWO, OUT, CUT, OUT),
    "a small map to another map, deleted there": (SMALL, SMALL_OUT, CUT, SMALL_OUT),
    "a small map under another key, deleted there": (
        SMALL,
        SMALL.replace("m:", "n:"),
        CUT,
        SMALL.replace("m:", "n:"),
    ),
    "a small map under two keys": (
        SMALL,
        SMALL.replace("m:", "n:"),
        SMALL.replace("m:", "o:"),
        SMALL.replace("  k:", "  o:\n    p: 1\n    q: 2\n  k:").replace("m:", "n:"),
    ),
    "a long value under two keys": (
        "a: 1\nurl: http://example.test/one\nz: 3\n",
        "a: 1\nhref: http://example.test/one\nz: 3\n",
        "a: 1\nlink: http://example.test/one\nz: 3\n",
        "a: 1\nhref: http://example.test/one\nlink: http://example.test/one\nz: 3\n",
    ),
    "an element to another list, deleted there": (
        mounts(DATA, ""),
        mounts("", DATA),
        mounts("", ""),
        mounts("", DATA),
    ),
    "an element to another list, its key edited there": (
        mounts(DATA, ""),
        mounts("", DATA),
        mounts(DATA9, ""),
        mounts(DATA9, DATA),
    ),
    "an entry under a new key, deleted there": (
        app("port: 80", "timeout: 5s"),
        app("server:", "  port: 80", "timeout: 5s"),
        app("timeout: 5s"),
        app("server:", "  port: 80", "timeout: 5s"),
    ),
    "an entry under a new key and edited, deleted there": (
        app("port: 80", "timeout: 5s"),
        app("server:", "  port: 81", "timeout: 5s"),
        app("timeout: 5s"),
        app("server:", "  port: 81", "timeout: 5s"),
    ),
    "the same far below, where git's lines agree": (
        app("port: 80", "timeout: 5s", "tls: true"),
        app("timeout: 5s", "tls: true", "server: {port: 81}"),
        app("timeout: 5s", "tls: true"),
        app("timeout: 5s", "tls: true", "server: {port: 81}"),
    ),
    "an entry under a new key, renamed there": (
        app("port: 80", "timeout: 5s"),
        app("server:", "  port: 80", "timeout: 5s"),
        app("httpPort: 80", "timeout: 5s"),
        app("server:", "  port: 80", "httpPort: 80", "timeout: 5s"),
    ),
    "an entry two new keys down": (
        app("port: 80", "timeout: 5s"),
        app("server: {http: {port: 80}}", "timeout: 5s"),
        app("timeout: 5s"),
        app("server: {http: {port: 80}}", "timeout: 5s"),
    ),
    "an entry under a new key on each side": (
        app("port: 80", "timeout: 5s"),
        app("server:", "  port: 80", "timeout: 5s"),
        app("timeout: 5s", "proxy:", "  port: 80"),
        app("server:", "  port: 80", "timeout: 5s", "proxy:", "  port: 80"),
    ),
    "an entry of an element without a name": (
        routes("port: 80", "timeout: 5s"),
        routes("server:", "  port: 80", "timeout: 5s"),
        routes("timeout: 5s"),
        routes("server:", "  port: 80", "timeout: 5s"),
    ),
    "an element to the list beside it, deleted there": (
        spec((OLD,), (A, B)),
        spec((OLD, A), (B,)),
        spec((OLD,), (B,)),
        spec((OLD, A), (B,)),
    ),
    "an element to a new list and edited, deleted there": (
        spec((), (A, B)),
        spec((box("a", "a:2"),), (B,)),
        spec((), (B,)),
        spec((box("a", "a:2"),), (B,)),
    ),
    "an element to the list beside it, renamed there": (
        spec((OLD,), (A, B)),
        spec((OLD, A), (B,)),
        spec((OLD,), (box("new"), B)),
        spec((OLD, A), (box("new"), B)),
    ),
    "the only element, and both emptied its list": (
        spec((OLD,), (A,)),
        spec((OLD, A), (), "containers: []"),
        spec((OLD,), (), "containers: []"),
        spec((OLD, A), (), "containers: []"),
    ),
    "the only element, and its list is gone": (
        spec((OLD,), (A,)),
        spec((OLD, A), ()),
        spec((OLD,), ()),
        spec((OLD, A), ()),
    ),
    "an entry added where all went under a new key": (
        app("port: 80", "timeout: 5s"),
        app("server:", "  port: 80", "  timeout: 5s"),
        app("port: 80", "timeout: 5s", "tls: true"),
        app("server:", "  port: 80", "  timeout: 5s", "tls: true"),
    ),
    "an element added where all went to another list": (
        spec((OLD,), (A,)),
        spec((OLD, A), (), "containers: []"),
        spec((OLD,), (A, MORE)),
        spec((OLD, A), (MORE,)),
    ),
    "a list that became a map of two kinds": (PAIR, KEYED, BELOW, IN_BOTH),
}

# merges nearby that are right
RIGHT: dict[str, Versions] = {
    "both moved an entry of one line": (TWO, OUT, OUT, OUT),
    "a flag that is like another": (
        "a: true\nc: 1\nz: 3\n",
        "b: true\nc: 1\nz: 3\n",
        "c: 1\nz: 3\n",
        "b: true\nc: 1\nz: 3\n",
    ),
    "an entry that went with the map around it": (
        "a:\n  enabled: true\nb:\n  k: 4\nz: 3\n",
        "b:\n  k: 4\n  enabled: true\nz: 3\n",
        "b:\n  k: 4\nz: 3\n",
        "b:\n  k: 4\n  enabled: true\nz: 3\n",
    ),
    "two places have it now": (
        TWO,
        CUT + "m: one\nn:\n  m: one\n",
        CUT,
        CUT + "m: one\nn:\n  m: one\n",
    ),
    "both did the same": (
        app("port: 80", "timeout: 5s"),
        app("server:", "  port: 80", "timeout: 5s"),
        app("server:", "  port: 80", "timeout: 6s"),
        app("server:", "  port: 80", "timeout: 6s"),
    ),
    "both moved all of it alike": (
        app("port: 80"),
        app("server:", "  port: 80"),
        app("server:", "  port: 80", "tls: true"),
        app("server:", "  port: 80", "tls: true"),
    ),
    "another entry was deleted there": (
        app("port: 80", "timeout: 5s", "tls: true"),
        app("server:", "  port: 80", "timeout: 5s", "tls: true"),
        app("port: 80", "timeout: 5s"),
        app("server:", "  port: 80", "timeout: 5s"),
    ),
    "an entry was added beside what stayed": (
        app("port: 80", "timeout: 5s"),
        app("server:", "  port: 80", "timeout: 5s"),
        app("port: 80", "timeout: 5s", "tls: true"),
        app("server:", "  port: 80", "timeout: 5s", "tls: true"),
    ),
    "both deleted it, and a new key holds another": (
        app("port: 80", "timeout: 5s"),
        app("server:", "  host: h", "timeout: 5s"),
        app("timeout: 5s"),
        app("server:", "  host: h", "timeout: 5s"),
    ),
    "all entries were deleted, and one added": (
        app("port: 80", "timeout: 5s"),
        app("host: h"),
        app("port: 80", "timeout: 5s", "tls: true"),
        app("host: h", "tls: true"),
    ),
    "both deleted it, and a map beside it gets such a key": (
        app("port: 80", "tls:", "  mode: a"),
        app("tls:", "  mode: a", "  port: 443"),
        app("tls:", "  mode: a"),
        app("tls:", "  mode: a", "  port: 443"),
    ),
    "an element was deleted whose name the list beside it has": (
        spec((A,), (A,)),
        spec((A,), (), "containers: []"),
        spec((A,), (A, MORE)),
        spec((A,), (MORE,)),
    ),
    "both moved an element, one added another": (
        spec((OLD,), (A, B)),
        spec((OLD, A), (B,)),
        spec((OLD, A), (B, MORE)),
        spec((OLD, A), (B, MORE)),
    ),
    "a list that became the same map on both sides": (PAIR, KEYED, KEYED, KEYED),
}


@pytest.mark.parametrize("name", PLANTED)
def test_the_referee_stops_what_would_be_silent(name: str) -> None:
    base, mover, other, result = PLANTED[name]
    for sides in ((mover, other), (other, mover)):
        laws = said(base, *sides, result)
        assert any(law.startswith("moved ") for law in laws), laws
        outcome = merge_files(*(text.encode() for text in (base, *sides)), line_merge=git_lines)
        assert not outcome.clean


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_merge_nearby_passes(name: str) -> None:
    base, ours, theirs, result = RIGHT[name]
    for sides in ((ours, theirs), (theirs, ours)):
        assert not said(base, *sides, result)
        outcome = merge_files(*(text.encode() for text in (base, *sides)), line_merge=git_lines)
        assert outcome.clean, outcome.text.decode()


def test_a_conflict_that_names_what_was_moved_does_not_hide_the_move() -> None:
    base, mover, other, _ = PLANTED["an entry under a new key, deleted there"]
    versions = (f"port: {n}\n{text}".encode() for n, text in ((1, base), (2, mover), (3, other)))
    outcome = merge_files(*versions, line_merge=git_lines)
    assert [conflict.field for conflict in outcome.conflicts] == ["port", "app.server"]
