"""Conflict markers that somebody committed are lines of a version, and no conflict of this merge.

The truth is git's: `git merge-file` over the three stages, with markers of a size that no version
has, which are read here line by line.
"""

from __future__ import annotations

import json
import os
import re
import sys

import pytest
from terminal import Terminal
from world import Done, Driven, Repo

from kmerge_git.errors import KmergeError
from kmerge_git.git.repository import Repository
from kmerge_git.text.markers import resolve
from kmerge_git.whole.resolving import Resolving

STYLES = ("merge", "diff3", "zdiff3")
# every style in a merge, every operation, and both kinds of styles in a rebase
WAYS = [
    *(("merge", style) for style in STYLES),
    ("rebase", "merge"),
    ("rebase", "diff3"),
    ("rebase --apply", "zdiff3"),
    ("cherry-pick", "diff3"),
]
SIDES = ("ours", "theirs")
LONG, SHORT = 11, 7
OWN = 40  # the size of the markers of the truth
MARKER = re.compile(r"([<|=>])\1{6,}(?:[ \t].*)?\Z")

PAUSED = "  paused: true\n"
COMMITTED = "<<<<<<< HEAD\n  paused: true\n=======\n  paused: false\n>>>>>>> topic\n"
BESIDE, APART = "", "  minReadySeconds: 1\n"  # what stands before them


def manifest(number: int, paused: str = PAUSED, before: str = APART, tag: str = "app") -> str:
    """A Deployment whose replicas and image say the number; `paused` stands after the replicas."""
    return (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n"
        f"  replicas: {number}\n{before}{paused}"
        "  selector: {}\n  template:\n    spec:\n      containers:\n      - name: web\n"
        f"        image: {tag}:{number}\n"
    )


def _cases() -> dict[str, tuple[str, str, str]]:
    """Base, ours and theirs by the names of files: everywhere two numbers are in conflict."""
    cases = {}
    for side, at in (("ours", 1), ("theirs", 2)):
        plain = [manifest(n) for n in (1, 2, 3)]
        apart, beside, inside = list(plain), [manifest(n, before=BESIDE) for n in (1, 2, 3)], []
        apart[at] = manifest(at + 1, COMMITTED)
        beside[at] = manifest(at + 1, COMMITTED, BESIDE)
        inside = [plain[0], *(manifest(n, "  paused: false\n") for n in (2, 3))]
        inside[at] = manifest(at + 1, COMMITTED)
        template = [text.replace("selector: {}", "selector: {{ .Values.x }}") for text in apart]
        windows = [text.replace("\n", "\r\n") for text in beside]
        endless = [text.removesuffix("\n") for text in apart]
        rest = list(plain)
        rest[at] = manifest(at + 1, COMMITTED.partition("\n")[2])  # its first line is gone
        for name, texts in (
            ("apart", apart),
            ("beside", beside),
            ("inside", inside),
            ("template", template),
            ("windows", windows),
            ("endless", endless),
            ("rest", rest),
        ):
            cases[f"{side}-{name}.yaml"] = (texts[0], texts[1], texts[2])
    cases["both.yaml"] = manifest(1), manifest(2, COMMITTED), manifest(3, COMMITTED)
    return cases


CASES = _cases()


def forked(repo: Driven, cases: dict[str, tuple[str, str, str]], style: str = "merge") -> None:
    repo.git("config", "merge.conflictStyle", style)
    repo.fork(*({name: texts[at] for name, texts in cases.items()} for at in range(3)))


def start(
    repo: Repo, operation: str = "merge", *words: str, env: dict[str, str] | None = None
) -> Done:
    """Begin the operation that merges `side` (theirs) with `main` (ours)."""
    command = operation.split()
    onto = "main" if command[0] == "rebase" else "side"
    repo.switch("side" if command[0] == "rebase" else "main")
    return repo.git(*command, *words, onto, check=False, env=env)


def stopped(
    repo: Driven,
    cases: dict[str, tuple[str, str, str]],
    style: str = "merge",
    operation: str = "merge",
    env: dict[str, str] | None = None,
) -> None:
    """A repository in which this operation stopped with a conflict in each file."""
    forked(repo, cases, style)
    done = start(repo, operation, env=env)
    assert (done.code != 0, repo.unmerged()) == (True, sorted(cases)), done.said
    stages = repo.show_all([f":{stage}:{name}" for name in cases for stage in (1, 2, 3)])
    assert stages == [text for texts in cases.values() for text in texts]


_by_git: dict[tuple[object, ...], str] = {}


def by_git(repo: Repo, texts: tuple[str, str, str], *words: str, size: int = OWN) -> str:
    """What `git merge-file` makes of base, ours and theirs, asked once."""
    if (texts, words, size) not in _by_git:
        places = [repo.write(f".git/truth/{at}", text) for at, text in enumerate(texts)]
        labels = ("-L", "ours", "-L", "base", "-L", "theirs")
        files = (places[1], places[0], places[2])
        done = repo.git(
            "merge-file", "-p", "-q", f"--marker-size={size}", *labels, *words, *files, check=False
        )
        assert 0 <= done.code < 128
        _by_git[texts, words, size] = done.out
    return _by_git[texts, words, size]


def truth(repo: Repo, texts: tuple[str, str, str], choice: str) -> str:
    """The file with one answer for every conflict, by git alone."""
    if choice in SIDES:
        return by_git(repo, texts, f"--{choice}")
    wanted = {"base": ("base",), "both": SIDES}[choice]
    part, found = "", []
    held: dict[str, list[str]] = {}
    turns = {"<": "ours", "|": "base", "=": "theirs"}
    for line in by_git(repo, texts, "--diff3").splitlines(keepends=True):
        mark = line[0] if line.startswith(line[:1] * OWN) else ""
        if mark in turns:
            part = turns[mark]
            held[part] = []
        elif mark == ">":
            found += [line for side in wanted for line in held[side]]
            part = ""
        else:
            (held[part] if part else found).append(line)
    text = "".join(found)
    # a marker stands on a line of its own, so git ends the line above it
    last = (texts[0], texts[2])[choice == "both"]
    return text if last.endswith("\n") else text.removesuffix("\n")


def is_torn(repo: Repo, texts: tuple[str, str, str]) -> bool:
    """Whether the file with one side for every conflict has markers that are those of no version."""
    known = [marker_lines(text) for text in texts]
    return any(marker_lines(truth(repo, texts, side)) not in ([], *known) for side in SIDES)


def wanted(repo: Repo, texts: tuple[str, str, str], choice: str) -> str:
    """The file with one answer; a torn file is one question, and `both` is no answer to it."""
    if not is_torn(repo, texts):
        return truth(repo, texts, choice)
    return texts[("base", *SIDES).index(choice)] if choice != "both" else ""


def marker_lines(text: str) -> list[str]:
    """The lines that look like markers, of any size from 7."""
    return [line for line in text.replace("\r\n", "\n").split("\n") if MARKER.match(line)]


def unlabelled(repo: Repo, name: str) -> str:
    """The file without the names behind its markers: git tells the driver other ones than us."""
    return re.sub(r"(?m)^([<|>])(\1{6,}) [^\r\n]*", r"\1\2", repo.bytes(name).decode())


def sizes(text: str, *versions: str) -> set[int]:
    """The sizes of the markers that no version has."""
    known = {line for version in versions for line in marker_lines(version)}
    return {len(line.split(" ")[0]) for line in marker_lines(text) if line not in known}


def assert_decided(repo: Repo, name: str, texts: tuple[str, str, str], wanted: str) -> None:
    """The file has this text, in the working tree and in the index."""
    assert_all_decided(repo, {name: texts}, {name: wanted})


def assert_all_decided(
    repo: Repo, cases: dict[str, tuple[str, str, str]], wanted: dict[str, str]
) -> None:
    """The files have these texts, in the working tree and in the index."""
    staged = dict(zip(wanted, repo.show_all([f":{name}" for name in wanted]), strict=True))
    assert staged == wanted
    assert {name: repo.bytes(name).decode() for name in wanted} == wanted
    for name, text in wanted.items():
        known = {line for each in cases[name] for line in marker_lines(each)}
        assert set(marker_lines(text)) <= known, name


# -- what the driver writes -----------------------------------------------------------------------


@pytest.mark.world
@pytest.mark.parametrize("operation, style", WAYS)
def test_the_markers_are_longer_and_cut_exactly(driven: Driven, style: str, operation: str) -> None:
    stopped(driven, CASES, style, operation)
    for name, texts in CASES.items():
        text = driven.bytes(name).decode()
        assert sizes(text, *texts) == {LONG}, name
        for side in SIDES:
            # the marker of the last conflict ends a line that the side does not end
            wanted = truth(driven, texts, side)
            ended = wanted if wanted.endswith("\n") else wanted + "\n"
            assert resolve(text, side, LONG) == ended, name
        if style == "diff3":
            wanted = truth(driven, texts, "base")
            assert resolve(text, "base", LONG).rstrip("\n") == wanted.rstrip("\n"), name
    assert sorted(set(driven.sized_calls())) == [(SHORT, name) for name in sorted(CASES)]


@pytest.mark.costly
def test_kmerge_merge_writes_the_same_markers(driven: Driven) -> None:
    stopped(driven, CASES)
    by_driver = {name: unlabelled(driven, name) for name in CASES}
    driven.git("merge", "--abort")
    assert driven.kmerge("merge", "side", check=False).code == 1
    assert {name: unlabelled(driven, name) for name in CASES} == by_driver


# -- answers --------------------------------------------------------------------------------------


@pytest.mark.world
@pytest.mark.parametrize("operation, style", WAYS)
def test_an_answer_is_cut_out_of_the_versions(driven: Driven, style: str, operation: str) -> None:
    stopped(driven, CASES, style, operation)
    before = {name: unlabelled(driven, name) for name in CASES}
    for choice in (*SIDES, "base", "both"):
        done = driven.kmerge("resolve", "--take", choice, check=False)
        left = [name for name, texts in CASES.items() if not wanted(driven, texts, choice)]
        assert (done.code, driven.unmerged()) == (int(choice == "both"), sorted(left)), done.said
        due = {
            name: wanted(driven, texts, choice)
            for name, texts in CASES.items()
            if name not in left and (choice != "both" or "endless" not in name)
        }
        assert_all_decided(driven, CASES, due)
        driven.kmerge("resolve", "--undo", ".")
        assert {name: unlabelled(driven, name) for name in CASES} == before
        assert driven.unmerged() == sorted(CASES)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("operation", ["merge", "cherry-pick"])
@pytest.mark.costly
def test_another_style_and_other_names_are_nobodys_work(
    driven: Driven, style: str, operation: str
) -> None:
    """Git's note of what it wrote is gone: only the two readings of the file tell."""
    stopped(driven, CASES, style, operation)
    (driven.path / ".git/AUTO_MERGE").unlink()
    driven.git("config", "merge.conflictStyle", "diff3" if style == "merge" else "merge")
    done = driven.kmerge("resolve", "--take", "theirs", check=False)
    assert (done.code, driven.unmerged()) == (0, []), done.said
    due = {name: wanted(driven, texts, "theirs") for name, texts in CASES.items()}
    assert_all_decided(driven, CASES, due)


@pytest.mark.parametrize("style", STYLES)
def test_an_edit_is_somebodys_work(driven: Driven, style: str) -> None:
    """Also in a line that lies between markers of a version."""
    name, texts = "a.yaml", CASES["ours-apart.yaml"]
    stopped(driven, {name: texts}, style)
    before = driven.text(name)
    for old, new in (("  paused: false\n", "  paused: null\n"), ("app:2", "app:9")):
        assert before.count(old) == 1
        mine = driven.write(name, before.replace(old, new))
        done = driven.kmerge("resolve", "--take", "theirs")
        assert "still in conflict (edited after the merge" in done.err
        assert (driven.unmerged(), mine.read_text()) == ([name], before.replace(old, new))


@pytest.mark.parametrize("side", SIDES)
def test_both_sides_of_a_last_line_that_does_not_end(driven: Driven, side: str) -> None:
    """They are two lines, although the first of them ended the file."""
    name, texts = "a.yaml", CASES[f"{side}-endless.yaml"]
    stopped(driven, {name: texts})
    driven.kmerge("resolve", "--take", "both")
    assert_decided(driven, name, texts, truth(driven, texts, "both"))


@pytest.mark.parametrize("style", STYLES)
def test_one_answer_after_the_other(driven: Driven, style: str) -> None:
    """What is left keeps markers that no version has."""
    name, texts = "a.yaml", CASES["ours-apart.yaml"]
    stopped(driven, {name: texts}, style)
    listed = driven.kmerge("resolve", "--list", check=False).lines
    first, second = (
        line.split()[0] for line in listed if line.endswith("both sides changed the same lines")
    )
    done = driven.kmerge("resolve", "--take", "theirs", "--at", first, check=False)
    assert (done.code, driven.unmerged()) == (1, [name])
    text = driven.text(name)
    assert sizes(text, *texts) == {LONG}
    for side in SIDES:
        image = {"ours": "app:2", "theirs": "app:3"}[side]
        assert resolve(text, side, LONG) == truth(driven, texts, "theirs").replace("app:3", image)
    driven.kmerge("resolve", "--take", "ours", "--at", second)
    assert_decided(driven, name, texts, truth(driven, texts, "theirs").replace("app:3", "app:2"))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.costly
def test_a_file_that_takes_too_long_is_cut_as_well(driven: Driven, side: str) -> None:
    """Neither the clock nor the markers that git wrote change what a side is."""
    late = {"KMERGE_TIMEOUT": "0.001"}
    many = "".join(f"k{n}: {{a: [1, 2, {n}]}}\n" for n in range(5000))
    texts = CASES["ours-apart.yaml"]
    cases = {"a.yaml": (many + texts[0], many + texts[1], many + texts[2])}
    stopped(driven, cases, env=late)
    driven.kmerge("resolve", "--take", side, env=late)
    assert_decided(driven, "a.yaml", cases["a.yaml"], many + truth(driven, texts, side))
    driven.kmerge("resolve", "--undo", ".", env=late)
    driven.kmerge("solve", "--force", env=late, check=False)
    driven.kmerge("resolve", "--take", side, env=late)
    assert_decided(driven, "a.yaml", cases["a.yaml"], many + truth(driven, texts, side))


def test_markers_longer_than_any_of_ours(driven: Driven) -> None:
    """Nothing can be cut out then: the question is about the whole file."""
    name, long = "a.yaml", COMMITTED.replace("<" * SHORT, "<" * 250)
    texts = manifest(1), manifest(2, long), manifest(3)
    stopped(driven, {name: texts})
    assert sizes(driven.text(name), *texts) == {250 + LONG - SHORT}
    found = json.loads(driven.kmerge("resolve", "--list", "--json", check=False).out)
    assert [(c["kind"], c["choices"]) for c in found["conflicts"]] == [
        ("file", ["ours", "theirs", "base"])
    ]
    for side, text in zip(SIDES, texts[1:], strict=True):
        driven.kmerge("resolve", "--take", side)
        assert_decided(driven, name, texts, text)
        driven.kmerge("resolve", "--undo", ".")


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.costly
def test_every_road_favours_alike(driven: Driven, side: str) -> None:
    forked(driven, CASES)
    wanted = {name: truth(driven, texts, side) for name, texts in CASES.items()}
    at, env = driven.head(), {"KMERGE_FAVOR": side}

    def made() -> dict[str, str]:
        found = {name: driven.bytes(name).decode() for name in CASES}
        assert driven.unmerged() == []
        assert driven.show_all([f":{name}" for name in CASES]) == list(found.values())
        driven.git("reset", "-q", "--hard")
        driven.switch("main")
        driven.git("reset", "-q", "--hard", at)
        return found

    assert start(driven, env=env).code == 0
    assert made() == wanted
    driven.kmerge("merge", "-X", side, "side")
    assert made() == wanted
    assert start(driven, "cherry-pick", env=env).code == 0
    assert made() == wanted
    assert start(driven).code == 1
    driven.kmerge("solve", f"--favor={side}")
    assert made() == wanted
    driven.write(".git/info/attributes", "")
    assert start(driven, "merge", f"-X{side}").code == 0
    assert made() == wanted


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.costly
def test_a_rebase_that_favours(driven: Driven, side: str) -> None:
    forked(driven, CASES)
    wanted = {name: truth(driven, texts, side) for name, texts in CASES.items()}
    assert start(driven, "rebase", env={"KMERGE_FAVOR": side}).code == 0
    assert {name: driven.bytes(name).decode() for name in CASES} == wanted


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.costly
def test_a_rebase_that_is_solved_for_a_side(driven: Driven, side: str) -> None:
    stopped(driven, CASES, "zdiff3", "rebase")
    driven.kmerge("solve", f"--favor={side}")
    due = {name: truth(driven, texts, side) for name, texts in CASES.items()}
    assert_all_decided(driven, CASES, due)


# -- rerere ---------------------------------------------------------------------------------------


def unresolved(repo: Repo, name: str) -> list[str]:
    """The marker lines in the index that neither parent has."""
    known = {line for at in ("main", "side") for line in marker_lines(repo.show(f"{at}:{name}"))}
    return [line for line in marker_lines(repo.show(f":{name}")) if line not in known]


@pytest.mark.world
@pytest.mark.parametrize("style", ["merge", "diff3"])
@pytest.mark.parametrize("choice", [*SIDES, "base", "by hand"])
@pytest.mark.parametrize("side", SIDES)  # of a conflict git does not remember which side is whose
def test_rerere_gives_the_same_answer_or_none(
    driven: Driven, style: str, choice: str, side: str
) -> None:
    driven.git("config", "rerere.enabled", "true")
    cases = {name: texts for name, texts in CASES.items() if name.startswith(side)}
    stopped(driven, cases, style)
    before = {name: driven.bytes(name) for name in cases}
    if choice == "by hand":
        for name in cases:
            driven.write(name, manifest(9))
        driven.git("add", "-A")
    else:
        driven.kmerge("resolve", "--take", choice)
    decided = {name: driven.bytes(name) for name in cases}
    driven.git("commit", "-q", "-m", "merged")
    driven.git("reset", "-q", "--hard", "HEAD~1")
    done = driven.merge()
    assert (done.code, driven.unmerged()) == (1, sorted(cases))
    for name in cases:
        is_told = f"Resolved '{name}' using previous resolution." in done.said
        wanted = decided if is_told else before
        assert driven.bytes(name) == wanted[name], name


@pytest.mark.parametrize("style", STYLES)
def test_rerere_stages_no_conflict_of_another_merge(driven: Driven, style: str) -> None:
    """The committed markers are no name for the conflicts that stand beside them."""
    name = "a.yaml"
    base, ours = manifest(1), manifest(1, COMMITTED).replace("replicas: 1", "replicas: 2")
    forked(driven, {name: (base, ours, base.replace("replicas: 1", "replicas: 3"))}, style)
    driven.git("config", "rerere.enabled", "true")
    driven.git("config", "rerere.autoUpdate", "true")
    assert driven.merge().code == 1
    driven.commit("merged", {name: ours.replace(COMMITTED, PAUSED)})
    driven.git("reset", "-q", "--hard", "HEAD~1")
    driven.commit("more", {name: ours.replace("app:1", "app:2")})
    driven.git("checkout", "-q", "-B", "side", "main~2")
    driven.commit("other", {name: base.replace("app:1", "app:3")})
    driven.switch("main")
    assert driven.merge().code == 1
    if name in driven.unmerged():
        assert sizes(driven.text(name), ours), "its markers are gone"
    else:
        assert unresolved(driven, name) == []


# -- the base -------------------------------------------------------------------------------------

ONLY_IN_BASE = {
    "alike.yaml": (manifest(1, COMMITTED), manifest(2), manifest(3)),
    "beside.yaml": tuple(
        manifest(n, COMMITTED if n == 1 else PAUSED, BESIDE) for n in (1, 2, 3)
    ),
    "apart.yaml": (manifest(1, COMMITTED), manifest(2), manifest(3, "  paused: false\n")),
    "rest.yaml": (manifest(1, COMMITTED.partition("\n")[2]), manifest(2, ""), manifest(3)),
}  # fmt: skip


@pytest.mark.world
@pytest.mark.parametrize("operation, style", WAYS)
def test_markers_of_the_base_alone(driven: Driven, style: str, operation: str) -> None:
    """Both sides took them away, so nobody takes a marker of ours for one of theirs."""
    stopped(driven, ONLY_IN_BASE, style, operation)
    for name, texts in ONLY_IN_BASE.items():
        text = driven.text(name)
        assert sizes(text, *texts) == {SHORT}, name
        if style == "merge":
            for side in SIDES:
                assert resolve(text, side, SHORT) == truth(driven, texts, side), name
    for side in SIDES:
        driven.kmerge("resolve", "--take", side)
        due = {name: truth(driven, texts, side) for name, texts in ONLY_IN_BASE.items()}
        assert_all_decided(driven, ONLY_IN_BASE, due)
        assert not any(map(marker_lines, due.values()))
        driven.kmerge("resolve", "--undo", ".")
    driven.kmerge("solve", "--favor=theirs")
    due = {name: truth(driven, texts, "theirs") for name, texts in ONLY_IN_BASE.items()}
    assert_all_decided(driven, ONLY_IN_BASE, due)


def test_the_markers_of_a_base_are_no_answer(driven: Driven) -> None:
    """Nobody wants them back; the conflicts without them have the answer `base`."""
    name, texts = "a.yaml", ONLY_IN_BASE["apart.yaml"]
    stopped(driven, {name: texts}, "diff3")
    done = driven.kmerge("resolve", "--take", "base", check=False)
    assert done.code == 1
    assert "`base` is not a possible answer; use " in done.out
    text = driven.text(name)
    assert "app:1" in text and "app:2" not in text


def criss_cross(repo: Driven, one: str, other: str, ours: str, theirs: str) -> None:
    """Two branches that merged each other's first commit, `one` on `main` and `other` on `side`."""
    name = "a.yaml"
    repo.commit("base", {name: manifest(1)})
    repo.branch("side")
    repo.commit("other", {name: other})
    repo.switch("main")
    repo.commit("one", {name: one})
    ends = repo.head("main"), repo.head("side")
    for branch, into, text in (("main", ends[1], ours), ("side", ends[0], theirs)):
        repo.switch(branch)
        repo.merge("-q", "--no-commit", into)
        repo.commit(f"{branch} merged", {name: text})
    repo.switch("main")
    repo.log.unlink(missing_ok=True)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("has_own", [False, True])
@pytest.mark.costly
def test_an_ancestor_that_is_itself_in_conflict(driven: Driven, style: str, has_own: bool) -> None:
    """Git merges two ancestors by lines, because one holds markers: the base has markers, too."""
    name = "a.yaml"
    driven.git("config", "merge.conflictStyle", style)
    own = COMMITTED if has_own else PAUSED
    criss_cross(driven, manifest(2, COMMITTED), manifest(3), manifest(4, own), manifest(5))
    assert driven.merge().code == 1
    assert [size for size, _ in driven.sized_calls()] == [SHORT + 2, SHORT]
    base, ours, theirs = (driven.show(f":{stage}:{name}") for stage in (1, 2, 3))
    assert sizes(base, ours, theirs) >= {SHORT + 2}, "the inner merge is in conflict"
    text, size = driven.text(name), LONG if has_own else SHORT
    assert sizes(text, base, ours) == {size}
    if style == "merge":
        for side in SIDES:
            assert resolve(text, side, size) == truth(driven, (base, ours, theirs), side)
    for side in SIDES:
        driven.kmerge("resolve", "--take", side)
        assert_decided(driven, name, (ours, theirs, ""), truth(driven, (base, ours, theirs), side))
        driven.kmerge("resolve", "--undo", ".")
    driven.kmerge("solve", "--favor=theirs")
    assert_decided(driven, name, (ours, theirs, ""), truth(driven, (base, ours, theirs), "theirs"))


# -- without an answer of the driver --------------------------------------------------------------


EVERY = CASES | {f"base-{name}": texts for name, texts in ONLY_IN_BASE.items()}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.costly
def test_what_stands_there_after_a_crash(driven: Driven, style: str) -> None:
    """It is git's own merge, as without a driver."""
    stopped(driven, EVERY, style, env={"KMERGE_FAULT": "exception"})
    words = [] if style == "merge" else [f"--{style}"]  # git is asked once for texts and words
    for name, texts in EVERY.items():
        driven.write(".git/truth/wanted", by_git(driven, texts, *words, size=SHORT))
        assert unlabelled(driven, name) == unlabelled(driven, ".git/truth/wanted"), name


@pytest.mark.world
@pytest.mark.parametrize("operation, style", WAYS)
def test_after_a_crash_an_answer_is_cut_as_well(driven: Driven, style: str, operation: str) -> None:
    """Git's own markers are as long as those in the file, where they cannot be told apart.

    Where git has no note of what it wrote, such a file may be taken for somebody's work.
    """
    crash = {"KMERGE_FAULT": "exception"}
    stopped(driven, EVERY, style, operation, env=crash)
    is_noted = (driven.path / ".git/AUTO_MERGE").exists()
    assert is_noted or operation == "rebase --apply"
    before = {name: driven.bytes(name) for name in EVERY}
    for name, texts in EVERY.items():
        assert sizes(before[name].decode(), *texts) <= {SHORT}
    for side in SIDES:
        done = driven.kmerge("resolve", "--take", side, check=False)
        left = driven.unmerged()
        assert (done.code, left) == (0, []) or not is_noted, done.said
        assert all(driven.bytes(name) == before[name] for name in left)
        decided = {name: texts for name, texts in EVERY.items() if name not in left}
        due = {name: wanted(driven, texts, side) for name, texts in decided.items()}
        assert_all_decided(driven, EVERY, due)
        assert len(left) < len(EVERY)
        driven.kmerge("resolve", "--undo", *(name for name in EVERY if name not in left))


# -- the file as it stands ------------------------------------------------------------------------


def refusal(repo: Repo, name: str, text: str) -> str:
    """Why this file cannot be staged as it stands, or nothing: then it was staged."""
    resolving = Resolving.start(Repository.open(str(repo.path)))
    before, stages = repo.bytes(name), repo.git("ls-files", "-u").out
    repo.write(name, text)
    why = ""
    try:
        resolving.take_file(name)
        assert repo.show(f":{name}") == text
        repo.git(
            "update-index", "--index-info", stdin=f"0 {'0' * len(repo.head())}\t{name}\n{stages}"
        )
    except KmergeError as error:
        why = error.why
    repo.write(name, before)
    assert repo.git("ls-files", "-u").out == stages
    return why


LEFT = "the answer still contains conflict markers; remove them"


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("driver", [True, False], ids=["driver", "git"])
def test_a_file_may_keep_the_markers_of_its_versions(
    driven: Driven, side: str, driver: bool
) -> None:
    name = "a.yaml"
    texts = CASES[f"{side}-apart.yaml"]
    if not driver:
        driven.write(".git/info/attributes", "")
    stopped(driven, {name: texts})
    marked = driven.text(name)
    assert refusal(driven, name, marked) == LEFT
    for choice in SIDES:
        assert refusal(driven, name, truth(driven, texts, choice)) == ""
    assert refusal(driven, name, manifest(9)) == ""
    assert refusal(driven, name, manifest(9, COMMITTED)) == ""
    for line in ("<<<<<<< ours", ">>>>>>> other", "||||||| abc", "<" * LONG + " HEAD", "<<<<<<<"):
        assert refusal(driven, name, manifest(9) + line + "\n") == LEFT, line
    # an answer to one of the two conflicts
    half = marked.rpartition("<" * (LONG if driver else SHORT) + " HEAD")[0]
    assert refusal(driven, name, half + "        image: app:9\n") == LEFT


@pytest.mark.parametrize("branch", ["topic", "other"])
def test_gits_own_markers_may_read_as_those_in_the_file(driven: Driven, branch: str) -> None:
    """They were committed in a merge of the same branch, so their lines are the same."""
    name, texts = "a.yaml", CASES["ours-apart.yaml"]
    driven.write(".git/info/attributes", "")
    forked(driven, {name: texts})
    driven.git("branch", "-m", "side", branch)
    driven.merge(branch)
    marked = driven.text(name)
    assert marked.count("\n>>>>>>> topic\n") == (3 if branch == "topic" else 1)
    assert refusal(driven, name, marked) == LEFT
    half = marked.replace("<<<<<<< HEAD\n  replicas: 2\n=======\n  replicas: 3\n", "")
    half = half.replace(f">>>>>>> {branch}\n", "  replicas: 9\n", 1)
    assert refusal(driven, name, half) == LEFT
    assert refusal(driven, name, half.replace(COMMITTED, PAUSED)) == LEFT
    assert refusal(driven, name, manifest(9, COMMITTED)) == ""


def tool(repo: Repo) -> Terminal:
    argv = ("git", "mergetool", "--tool=kmerge", "--no-prompt")
    return Terminal(argv, cwd=repo.path, env=repo.world.env)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("driver", [True, False], ids=["driver", "git"])
@pytest.mark.costly
def test_mergetool_takes_such_a_file(driven: Driven, side: str, driver: bool) -> None:
    name = "a.yaml"
    driven.kmerge("install", "--mergetool")
    driven.write(".git/info/attributes", "*.yaml merge=kmerge\n" if driver else "")
    stopped(driven, {name: CASES[f"{side}-apart.yaml"]})
    mine = manifest(9, COMMITTED)
    with tool(driven) as terminal:
        terminal.wait("Which?")
        terminal.press("d")
        terminal.wait("the answer still contains conflict markers; remove them")
        driven.write(name, mine + "<<<<<<< other\n")
        terminal.press("d")
        terminal.wait("the answer still contains conflict markers; remove them")
        driven.write(name, mine)
        terminal.press("d")
        assert terminal.end() == 0
    assert (driven.unmerged(), driven.show(f":{name}")) == ([], mine)


@pytest.mark.parametrize("key, side", [("O", "ours"), ("T", "theirs")])
@pytest.mark.parametrize("driver", [True, False], ids=["driver", "git"])
@pytest.mark.costly
def test_mergetool_asks_about_such_a_file(
    driven: Driven, key: str, side: str, driver: bool
) -> None:
    name, texts = "a.yaml", CASES["ours-apart.yaml"]
    driven.kmerge("install", "--mergetool")
    driven.write(".git/info/attributes", "*.yaml merge=kmerge\n" if driver else "")
    stopped(driven, {name: texts}, "zdiff3")
    with tool(driven) as terminal:
        terminal.wait("Which?")
        terminal.press(key)
        assert terminal.end() == 0
    assert driven.unmerged() == []
    assert_decided(driven, name, texts, truth(driven, texts, side))


@pytest.mark.costly
def test_mergetool_of_three_files_in_no_repository(driven: Driven) -> None:
    place = Repo(driven.world, driven.world.root / "apart")
    texts = CASES["theirs-apart.yaml"]
    names = ("base.yaml", "ours.yaml", "theirs.yaml", "out.yaml")
    for name, text in zip(names, texts, strict=False):
        place.write(name, text)
    argv = (sys.executable, "-m", "kmerge_git", "mergetool", *names)
    done = place.world.run(*argv, cwd=place.path, check=False)
    assert done.code == 1
    marked = place.text("out.yaml")
    assert sizes(marked, *texts) == {LONG}
    assert [resolve(marked, s, LONG) for s in SIDES] == [truth(driven, texts, s) for s in SIDES]
    os.unlink(place.path / "out.yaml")
    with Terminal(argv, cwd=place.path, env=place.world.env) as terminal:
        terminal.wait("Which?")
        terminal.press("d")
        terminal.wait("the answer still contains conflict markers; remove them")
        terminal.press("T")
        assert terminal.end() == 0
    assert place.text("out.yaml") == truth(driven, texts, "theirs")
