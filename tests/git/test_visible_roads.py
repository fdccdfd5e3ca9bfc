"""Names, subjects and values that would drive a terminal, on every road to one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from world import Done, Driven, World

from kmerge_git.visible import visible

EVIL = "\x1b[2J\u202e"
SHOWN = r"\x1b[2J\u202e"
FILE = f"a{EVIL}\a\u0085.yaml"
SUBJECT = f"sub{EVIL}\x9b\a"
BRANCH = "si\u202e\u0085de"
COLOURS = [f"\x1b[{n}m" for n in (0, 1, 2, 31, 32, 33, 34)]


def manifest(value: str, more: str = "") -> str:
    return (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: we\u202eb\n"
        f'spec:\n  "k\\x1b[2J": {value}\n  other: "\u202e\u200b"\n  far: 1\n{more}'
    )


def is_clean(text: str, *, shown: str = "") -> bool:
    """Whether no line has anything but colours of ours, and what was told is there."""
    for code in COLOURS:
        text = text.replace(code, "")
    return all(visible(line) == line for line in text.split("\n")) and shown in text


@pytest.fixture
def torn(driven: Driven) -> Driven:
    """Two branches that disagree about one field of a file with an odd name."""
    texts = [{FILE: manifest(f"v{n}\u202e")} for n in "123"]
    driven.commit("base", dict(texts[0]))
    driven.branch(BRANCH)
    driven.commit(SUBJECT, dict(texts[2]))
    driven.switch("main")
    driven.commit(SUBJECT, dict(texts[1]))
    return driven


def told(done: Done, shown: str = SHOWN) -> str:
    """What a command said, which must be clean; it says something, and not a traceback."""
    assert is_clean(done.said, shown=shown), done.said
    assert "Traceback" not in done.said
    return done.said


@pytest.mark.parametrize("command", [("merge", BRANCH), ("rebase", "-q", BRANCH)])
def test_the_driver(torn: Driven, command: tuple[str, ...]) -> None:
    done = torn.git(*command, check=False)
    ours = "\n".join(line for line in done.err.split("\n") if "kmerge: " in line)
    assert is_clean(ours.rpartition("\r")[2], shown=rf"kmerge: a{SHOWN}\x07\x85.yaml: ")
    marks = [n for n in torn.text(FILE).split("\n") if n[:7] in ("<" * 7, "=" * 7, ">" * 7)]
    assert len(marks) == 3
    assert is_clean("\n".join(marks), shown=r'we\u202eb spec["k\x1b[2J"]')
    theirs = r"si\u202e\x85de" if command[0] == "merge" else rf"(sub{SHOWN}\x9b\x07)"
    assert marks[-1].endswith(theirs)


@pytest.mark.parametrize("options", [(), ("--rebase",), ("--color", "always")])
def test_preview(torn: Driven, options: tuple[str, ...]) -> None:
    told(torn.kmerge("preview", BRANCH, *options, check=False))


@pytest.mark.parametrize("options", [("--dry-run",), (), ("--json",)])
def test_solve(torn: Driven, options: tuple[str, ...]) -> None:
    torn.git("merge", BRANCH, check=False)
    shown = r"\u001b[2J\u202e" if options == ("--json",) else SHOWN
    told(torn.kmerge("solve", *options, check=False), shown)


@pytest.mark.parametrize(
    "options",
    [("--list",), ("--take", "both"), ("--take", "ours", "--at", EVIL), ("--list", "--json")],
)
def test_resolve(torn: Driven, options: tuple[str, ...]) -> None:
    torn.git("merge", BRANCH, check=False)
    shown = r"\u001b[2J\u202e" if "--json" in options else SHOWN
    told(torn.kmerge("resolve", *options, check=False), shown)


@pytest.mark.costly
def test_replay(torn: Driven) -> None:
    torn.git("merge", BRANCH, check=False)
    torn.commit(SUBJECT, {FILE: manifest("people\u202e")})
    torn.git("checkout", "-q", "-b", "more", "main~1")
    torn.commit(SUBJECT, {FILE: manifest("v2\u202e", "  ours: 1\n")})
    torn.git("merge", "--no-commit", f"{BRANCH}~1", check=False)
    torn.git("checkout", "-q", "-b", "other", f"{BRANCH}~1")
    torn.commit(SUBJECT, {FILE: manifest("v1\u202e", "  theirs: 1\n")})
    torn.switch("more")
    torn.git("merge", "--no-commit", "other", check=False)
    torn.commit(SUBJECT, {FILE: manifest("else\u202e")})
    told(torn.kmerge("replay", "--color", "always"))
    told(torn.kmerge("replay", "--show", "1", "--color", "always"))
    told(torn.kmerge("replay", "--html", f"r{EVIL}.html"))
    assert is_clean((torn.path / f"r{EVIL}.html").read_text(), shown=SHOWN)
    told(torn.kmerge("replay", "--show", "1", "--extract", f"d{EVIL}"))


MISSPELT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: we\u202eb
spec:
  replicas: 1
  replicas: 2
  strategy: {$patch: wro\u202eng}
  template:
    $path: replace
    "\u202e": 1
"""


@pytest.mark.parametrize(
    "options",
    [
        ("--color", "always"),
        ("--format", "github"),
        ("--format", "json"),
        ("--dry-run", "--color", "always"),
        ("--dry-run", "--color", "never"),
    ],
    ids=" ".join,
)
def test_check(driven: Driven, options: tuple[str, ...]) -> None:
    driven.write(FILE, MISSPELT + "- \x1b[2J\n")
    told(driven.kmerge("check", FILE, check=False), "")
    driven.write(FILE, MISSPELT)
    said = told(
        driven.kmerge("check", "--as", "patch", "--select", "all", FILE, *options, check=False),
        r"\u202e" if "json" in options else SHOWN,
    )
    if "--dry-run" in options:
        assert "-    $path: replace" in said
        assert rf"+++ b/a{SHOWN}" in said


def test_merges_by_hand(world: World) -> None:
    files = [Path(f"{name}{EVIL}.yaml") for name in ("base", "ours", "theirs")]
    for n, file in enumerate(files):
        file.write_text(manifest(f"v{n}\u202e"))
    options = ("--explain",)
    done = world.kmerge("merge", *files, "-o", f"out{EVIL}", *options, check=False)
    told(done, r'we\u202eb spec["k\x1b[2J"]')
    marks = [n for n in Path(f"out{EVIL}").read_text().split("\n") if n[:7] in ("<" * 7, ">" * 7)]
    assert is_clean("\n".join(marks), shown=SHOWN)
    told(world.kmerge("mergetool", *files, f"out{EVIL}", check=False))
    three = ("--original", files[0], "--dest", files[1], "--updated", files[2])
    for more in ((), ("--rules", "git")):
        told(
            world.kmerge("merge3", *three, "-o", "x", "--explain", "--summary", *more, check=False),
            "",
        )
    told(world.kmerge("merge3", *three, "--dry-run", check=False))
    told(world.kmerge("merge2", "--src", files[0], "--dest", files[1], "--dry-run", check=False))
    for n, folder in enumerate(("o", "d", "u")):
        Path(folder).mkdir()
        Path(folder, FILE).write_text(manifest(f"v{n}"))
    folders = ("--original", "o", "--dest", "d", "--updated", "u", "--dry-run")
    told(world.kmerge("merge3", *folders, "--explain", "--summary", check=False))


@pytest.mark.parametrize("colour", ["always", "never"])
def test_objects(world: World, colour: str) -> None:
    file, patch = Path(FILE), Path(f"p{EVIL}")
    file.write_text(manifest("1"))
    patch.write_text(manifest("2"))
    dry = ("--dry-run", "--color", colour)
    told(world.kmerge("patch", file, "--patch", patch, "--type", "merge", *dry, check=False))
    told(world.kmerge("apply", patch, "--live", file, "--explain", *dry, check=False))
    told(world.kmerge("last-applied", "view", file, check=False), r"we\u202eb")
    told(world.kmerge("last-applied", "set", file, "--config", patch, check=False))


@pytest.mark.parametrize(
    "words",
    [
        ("merge", FILE, FILE, FILE),
        ("status", "--bogus" + EVIL),
        ("bogus" + EVIL,),
        ("check", FILE),
        ("check", "--explain", EVIL),
        ("preview", EVIL),
        ("replay", EVIL),
        ("solve", FILE),
        ("resolve", "--list", FILE),
        ("resolve", "--take", EVIL),
        ("resolve", "--set", f"{EVIL}=1"),
        ("resolve", "--from", EVIL),
        ("resolve", "--undo", FILE),
        ("patch", FILE, "--patch", FILE),
        ("apply", FILE),
        ("merge2", "--src", FILE, "--dest", FILE),
        ("mergetool", FILE, FILE, FILE, FILE),
        ("install", "--pattern", EVIL, "--dry-run"),
    ],
    ids=lambda words: " ".join(words).split("\x1b")[0].split(" a")[0],
)
def test_what_errors_say(driven: Driven, words: tuple[str, ...]) -> None:
    driven.fork(*({"x.yaml": f"a: {n}\n"} for n in (1, 2, 3)))
    if words[0] == "resolve":
        driven.merge()
    told(driven.kmerge(*words, check=False))


def test_a_line_that_cannot_be_read(driven: Driven) -> None:
    driven.write(FILE, "a: \x1b[2J\u202e\n")
    told(driven.kmerge("patch", FILE, "--patch", FILE, check=False))


@pytest.mark.usefixtures("by_libgit2")  # git finds a branch whatever it is called
def test_names_that_are_no_text(driven: Driven) -> None:
    name, branch = os.fsdecode(b"x\xff.yaml"), os.fsdecode(b"si\xffde")
    try:
        driven.fork({name: "a: 1\n"}, {name: "a: 2\n"}, {name: "a: 3\n"})
        driven.git("branch", "-m", "side", branch)
    except (OSError, AssertionError):
        pytest.skip("names are text here")
    told(driven.kmerge("preview", branch, check=False), "is not a commit of this repository")
    told(driven.kmerge("preview", driven.head(branch), check=False), r"x\xff.yaml")
    driven.git("merge", branch, check=False)
    marked = (driven.path / name).read_text()
    assert marked.endswith(">>>>>>> si\\xffde\n")
    told(driven.kmerge("solve", check=False), r"x\xff.yaml")
    told(driven.kmerge("check", check=False), r"x\xff.yaml")
