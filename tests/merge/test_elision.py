"""Long texts without the lines that nobody changed: the same merge."""

from __future__ import annotations

import random
from functools import partial

import pytest

from kmerge_git.api import merge_files
from kmerge_git.merge import by_resource, elision
from kmerge_git.merge.decide.keyed import by_key
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Outcome
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n"
LINES = ["a", "b: 1", "  deeper", "# note", "", "- x", "end", "| y", "\tz", "   ", "é", "{{ x }}"]


by_name = partial(by_key, by_name=True)


def text(lines: list[str], style: str = "|", column: int = 4) -> str:
    body = "".join((" " * column + line if line else "") + "\n" for line in lines)
    return f"{HEAD}  a: b\n  k: {style}\n{body}  z: b\n"


def taken(*lines: list[str], style: str = "|") -> list[str] | None:
    """The runs that are taken out of three versions."""
    at = Three(*(split(Source.of(text(side, style))).documents[0] for side in lines))
    made = elision.elide(at, by_name)
    return None if made is None else list(made.texts.values())


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elision, "WORTH", 20)
    monkeypatch.setattr(elision, "FEW", 0)


USUAL = [f"line {n}" for n in range(30)]


@pytest.mark.usefixtures("_small")
def test_what_stands_between_changes_is_taken_out() -> None:
    ours, theirs = list(USUAL), list(USUAL)
    ours[10], theirs[20] = "ours", "theirs"
    runs = taken(USUAL, ours, theirs)
    assert runs is not None
    taken_out = [line.strip() for run in runs for line in run.splitlines()]
    assert taken_out == [*USUAL[1:9], *USUAL[12:19], *USUAL[22:29]]


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize(
    "line, style",
    [
        ("line", ">"),  # folded: a line is not a line of the value
        ("line", "|2"),
        ("   ", "|"),
        ("\x01", "|"),
        ("a\rb", "|"),
        ("\u2028", "|"),
        ("kmerge.elided.run", "|"),
        ("a: &b", "|"),
    ],
)
def test_a_text_that_is_not_taken_apart(line: str, style: str) -> None:
    base = [*USUAL[:15], line, *USUAL[15:]]
    ours, theirs = list(base), list(base)
    ours[3], theirs[25] = "ours", "theirs"
    assert taken(base, ours, theirs, style=style) is None


def merged(three: tuple[bytes, bytes, bytes]) -> tuple[object, ...]:
    made: Outcome = merge_files(*three, path="a.yaml", line_merge=lambda *_: (b"", False))
    places = [(c.field, c.why, c.place) for c in made.conflicts]
    return made.method, made.clean, made.text, places, [repr(d) for d in made.decisions]


@pytest.mark.costly
def test_a_long_text_merges_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    r = random.Random(7)
    used = 0
    for _ in range(100):
        base = ["start"]
        base += [r.choice(LINES) if r.random() < 0.3 else f"line {n}" for n in range(24)]
        sides = [list(base), list(base)]
        for side in sides:
            for _ in range(r.randint(1, 2)):
                at = r.randrange(len(side))
                side[at : at + r.randint(0, 1)] = [r.choice(["new", "other", "", "  deep"])]
        style, column = r.choice(["|", "|-", "|+"]), r.choice([3, 4])
        versions = [text(lines, style, column).encode() for lines in (base, *sides)]
        three = (versions[0], versions[1], versions[2])
        monkeypatch.setattr(by_resource, "LARGE", 1 << 30)
        whole = merged(three)
        monkeypatch.setattr(by_resource, "LARGE", 0)
        monkeypatch.setattr(elision, "WORTH", 20)
        monkeypatch.setattr(elision, "FEW", 0)
        assert merged(three) == whole
        used += taken(base, *sides, style=style) is not None
    assert used > 10


# -- lists


def service(ports: list[list[str]]) -> bytes:
    head = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:\n"
    lines = [
        line for port in ports for line in ("- " + port[0], *("  " + text for text in port[1:]))
    ]
    return (head + "".join(f"  {line}\n" for line in lines)).encode()


PORTS = [[f"name: p{n}", f"port: {8000 + n}", "protocol: TCP"] for n in range(40)]


def takes_elements(*versions: list[list[str]]) -> bool:
    """Return whether elements are taken out of three versions."""
    at = Three(*(split(Source(service(ports))).documents[0] for ports in versions))
    made = elision.elide(at, by_name)
    return made is not None and any("- " in text for text in made.texts.values())


def edited(place: int, *port: str) -> list[list[str]]:
    return [list(port) if n == place else port_ for n, port_ in enumerate(PORTS)]


THEIRS = edited(30, "name: p30", "port: 8030", "protocol: UDP")


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize(
    "ours, is_taken",
    [
        (edited(5, "name: p5", "port: 8005", "protocol: UDP"), True),
        ([*PORTS[:9], ["name: new", "port: 1"], *PORTS[9:]], True),
        ([*PORTS[:9], *PORTS[10:]], True),
        # what an element is like counts, or its key is there already
        ([*PORTS[:9], ["name: new", "port: 1"], *PORTS[10:]], False),
        ([*PORTS[:9], *PORTS[10:20], PORTS[9], *PORTS[20:]], False),
        ([*PORTS[:9], ["name: new", "port: 8019"], *PORTS[9:]], False),
        ([*PORTS[:9], ["name: new", 'port: "8019"'], *PORTS[9:]], False),
        ([*PORTS[:9], ["name: p19", "port: 1"], *PORTS[9:]], False),
    ],
)
def test_elements_are_taken_out_only_if_their_keys_are_known(
    ours: list[list[str]], is_taken: bool
) -> None:
    assert takes_elements(PORTS, ours, THEIRS) == is_taken


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize(
    "odd",
    [
        ["name: p20", "port: 8020", "protocol: TCP", 'text: "a', '  b"'],
        ["name: p20", "port: {a: b}"],
        ["name: p20", "port:", "  a: b"],
        ["name: p20", "port: 80", "  20"],
        ["name: p20", "port: !!str 8020"],
        ["name: p20", 'port: "80\\x320"'],
        ["? name", ": p20", "port: 8020"],
        ['"name": p20', "port: 8020"],
        ["name : p20", "port: 8020"],
    ],
)
def test_an_element_that_is_not_written_plainly_stays(odd: list[str]) -> None:
    base = edited(20, *odd)
    sides = [[*base], [*base]]
    sides[0][5], sides[1][34] = ["name: p5", "port: 8005"], ["name: p34", "port: 8034"]
    at = Three(*(split(Source(service(ports))).documents[0] for ports in (base, *sides)))
    made = elision.elide(at, by_name)
    assert made is None or "20" not in "".join(made.texts.values())


@pytest.mark.costly
@pytest.mark.parametrize("seed", range(4))
def test_a_long_list_merges_as_a_short_one(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    r = random.Random(seed)
    used = 0
    for _ in range(100):
        base = [list(port) for port in PORTS[: r.randint(12, 40)]]
        sides = []
        for _ in range(2):
            side = [list(port) for port in base]
            for _ in range(r.randint(1, 3)):
                change_one(side, r)
            sides.append(side)
        versions = [service(ports) for ports in (base, *sides)]
        three = (versions[0], versions[1], versions[2])
        monkeypatch.setattr(by_resource, "LARGE", 1 << 30)
        whole = merged(three)
        monkeypatch.setattr(by_resource, "LARGE", 0)
        monkeypatch.setattr(elision, "WORTH", 20)
        assert merged(three) == whole
        used += takes_elements(base, *sides)
    assert used > 10


def change_one(ports: list[list[str]], r: random.Random) -> None:
    """Change a list of ports as a person may."""
    at = r.randrange(len(ports))
    new = [f"name: p{r.randrange(60)}", f"port: {8000 + r.randrange(60)}"]
    match r.randrange(7):
        case 0 | 1:
            ports[at].append(f"nodePort: {r.randrange(3)}")
        case 2:
            ports[at] = [ports[at][0], f"port: {9000 + at}", *ports[at][2:]]
        case 3 | 4:
            ports.insert(at, new)
        case 5 if len(ports) > 1:
            del ports[at]
        case _:
            ports.insert(r.randrange(len(ports)), ports.pop(at))
