"""Every command names what a merge left to a person, with the reason, until it is decided."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from test_sealed_doors import secret
from world import Done, Repo

from kmerge_git.merge.plan import Why
from kmerge_git.text.markers import first_marker

FILE = "f.yaml"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: '{}'\n"
TEXTS = [MAP.format(number) for number in (1, 2, 3)]


def fork(repo: Repo, name: str, texts: list[str] | list[bytes], attributes: str = "") -> None:
    base: dict[str, str | bytes] = {".gitattributes": attributes} if attributes else {}
    repo.fork(base | {name: texts[0]}, {name: texts[1]}, {name: texts[2]})


def grow(repo: Repo, base: Callable[[], object], ours: Callable[[], object],
         theirs: Callable[[], object]) -> None:  # fmt: skip
    """Make the commits of a fork by functions that change the working tree or the index."""
    for step, message in ((base, "base"), (theirs, "theirs"), (ours, "ours")):
        if step is theirs:
            repo.branch("side")
        elif step is ours:
            repo.switch("main")
        step()
        repo.git("commit", "-q", "--allow-empty", "-m", message)


def written(repo: Repo, name: str, text: str, mode: int = 0o644) -> Callable[[], object]:
    def step() -> None:
        (repo.path / name).unlink(missing_ok=True)
        os.chmod(repo.write(name, text), mode)
        repo.git("add", "--", name)

    return step


def linked(repo: Repo, target: str) -> Callable[[], object]:
    def step() -> None:
        (repo.path / FILE).unlink(missing_ok=True)
        (repo.path / FILE).symlink_to(target)
        repo.git("add", "--", FILE)

    return step


def nested(repo: Repo, digit: str) -> Callable[[], object]:
    return lambda: repo.git("update-index", "--add", "--cacheinfo", _module(repo, digit))


def _module(repo: Repo, digit: str) -> str:
    return f"160000,{digit * repo.digits()},sub"


def encrypted(repo: Repo) -> None:
    fork(repo, FILE, [secret("a", "1"), secret("b", "2"), secret("c", "3")])


def generated(repo: Repo) -> None:
    fork(repo, FILE, TEXTS, f"{FILE} kmerge-generated\n")


def deleted_by_us(repo: Repo) -> None:
    gone = lambda: repo.git("rm", "-q", FILE)  # noqa: E731
    grow(repo, written(repo, FILE, TEXTS[0]), gone, written(repo, FILE, TEXTS[2]))


def deleted_by_them(repo: Repo) -> None:
    gone = lambda: repo.git("rm", "-q", FILE)  # noqa: E731
    grow(repo, written(repo, FILE, TEXTS[0]), written(repo, FILE, TEXTS[1]), gone)


def text_deleted(repo: Repo) -> None:
    gone = lambda: repo.git("rm", "-q", "f.txt")  # noqa: E731
    grow(repo, written(repo, "f.txt", "a\n"), gone, written(repo, "f.txt", "b\n"))


def links(repo: Repo) -> None:
    grow(repo, *(linked(repo, target) for target in "xyz"))


def link_or_file(repo: Repo) -> None:
    grow(repo, written(repo, FILE, TEXTS[0]), written(repo, FILE, TEXTS[1]), linked(repo, "x"))


def modes(repo: Repo) -> None:
    new = [written(repo, FILE, TEXTS[1], mode) for mode in (0o644, 0o755)]
    grow(repo, written(repo, "g.yaml", TEXTS[0]), *new)


def submodule(repo: Repo) -> None:
    grow(repo, *(nested(repo, digit) for digit in "123"))


def binary(repo: Repo) -> None:
    fork(repo, FILE, [b"a: \0 %d\n" % number for number in (1, 2, 3)])


def picture(repo: Repo) -> None:
    fork(repo, "f.png", [b"\0 %d\n" % number for number in (1, 2, 3)])


def text(repo: Repo) -> None:
    fork(repo, "f.txt", ["a\n", "b\n", "c\n"])


def filtered(repo: Repo) -> None:
    for name in ("clean", "smudge"):
        repo.git("config", f"filter.crypt.{name}", "cat")
    fork(repo, FILE, TEXTS, f"{FILE} filter=crypt\n")


def unmerged(repo: Repo) -> None:
    fork(repo, FILE, TEXTS, f"{FILE} -merge\n")


def two_names(repo: Repo) -> None:
    moved = (lambda to=to: repo.git("mv", FILE, to) for to in ("ours.yaml", "theirs.yaml"))
    grow(repo, written(repo, FILE, TEXTS[0]), *moved)


@dataclass(frozen=True, slots=True)
class Left:
    """A file that is left: its path, the reason, and what a person does."""

    fork: Callable[[Repo], None]
    why: str
    way: str = "run `git checkout --ours FILE` (or `--theirs`)"
    path: str = FILE
    has_markers: bool = False
    is_asked: bool = False
    merge: str = ""  # the reason that `kmerge merge` gives, if git leaves the file to it


LEFT = [
    Left(encrypted, "a SOPS file: both sides changed", has_markers=True),
    Left(generated, "a generated file; our version is kept", "generate it again, then `git add`"),
    Left(deleted_by_us, "deleted by us, changed by them", "", is_asked=True),
    Left(deleted_by_them, "deleted by them, changed by us", "", is_asked=True),
    Left(text_deleted, "not a manifest, deleted by us", "`git rm` to delete it", "f.txt"),
    Left(links, "one side has a symbolic link"),
    Left(link_or_file, "one side has a symbolic link", "`git rm` to delete it"),
    Left(modes, "added with mode 100644 in ours and 100755 in theirs", "`git add --chmod=+x"),
    Left(submodule, "one side has a submodule", "`git -C FILE checkout COMMIT`", "sub"),
    Left(binary, "the file is binary"),
    Left(picture, "not a manifest, binary", path="f.png"),
    Left(text, "not a manifest", "", "f.txt", has_markers=True),
    Left(filtered, "git converts this file with the filter 'crypt'", "resolve its conflict markers",
         has_markers=True, merge=Why.BOTH_CHANGED),
    Left(unmerged, "the attributes turn merging off"),
    Left(two_names, "the two sides renamed the file differently", "`git rm` for the other names", "theirs.yaml"),
]  # fmt: skip
NAMES = [left.fork.__name__ for left in LEFT]


def named(done: Done, left: Left) -> bool:
    """Whether a line of a report has the path and the reason."""
    return any(left.path in line and left.why in line for line in done.said.splitlines())


def decide(repo: Repo, left: Left) -> None:
    for path in repo.unmerged():
        if path == "sub":
            repo.git("update-index", "--cacheinfo", _module(repo, "2"))
            continue
        repo.git("checkout", "--theirs", "--", path, check=False)
        repo.git("add", "-A", "--", path)
    assert repo.unmerged() == []


@pytest.mark.parametrize("left", LEFT, ids=NAMES)
def test_the_word_after_a_merge(repo: Repo, left: Left) -> None:
    left.fork(repo)
    done = repo.kmerge("merge", "side", check=False)
    assert done.code == 1 and left.path in repo.unmerged()
    if left.fork is two_names:  # git makes this merge alone
        return
    told = [line for line in done.err.splitlines() if not line.startswith("hint: ")]  # git 2.43
    lines = [line for line in told if left.path in line and "conflict" in line]
    assert len([line for line in lines if not line.endswith(f"{FILE}~HEAD")]) == 1
    assert (left.merge or left.why) in lines[0] and (left.merge or left.way in lines[0])
    assert ("kmerge resolve" in done.err) == (left.is_asked or bool(left.merge))


def test_a_file_without_a_driver_has_a_reason(repo: Repo) -> None:
    repo.kmerge("install")
    repo.write(".git/info/attributes", f"*.yaml merge=kmerge\n{FILE} !merge\n")
    fork(repo, FILE, TEXTS)
    done = repo.kmerge("merge", "side", check=False)
    assert f"still in conflict (the git attributes set no merge driver): {FILE}" in done.err


@pytest.mark.parametrize("left", LEFT, ids=NAMES)
@pytest.mark.costly
def test_until_it_is_decided(repo: Repo, left: Left) -> None:
    left.fork(repo)
    repo.merge()
    commands = ("solve",), ("resolve", "--list"), ("explain",), ("check", "--merge")
    for words in (*commands, *commands):  # a command does not take the word from the next one
        done = repo.kmerge(*words, check=False)
        is_by_markers = words[0] == "check" and left.has_markers
        is_question = words[0] == "resolve" and left.is_asked
        assert is_by_markers or named(done, left) or (is_question and left.why in done.out)
        assert is_by_markers or left.way in done.said
        assert is_question or left.is_asked or "kmerge resolve" not in done.said
        assert left.path in repo.unmerged()
    assert (not left.has_markers) == (words[0] == "check" and done.code == 1 and named(done, left))
    present = repo.path / left.path
    if present.is_file() and not present.is_symlink():
        is_marked = first_marker(present.read_bytes().decode("utf-8", "replace")) >= 0
        assert is_marked == left.has_markers
    decide(repo, left)
    for words in commands[:2]:
        done = repo.kmerge(*words, check=False)
        assert done.code == 0 and not named(done, left)
    done = repo.kmerge("check", "--merge", check=False)
    assert done.code == 0 and "still in conflict" not in done.said
    done = repo.kmerge("explain", check=False)
    assert "still in conflict" not in done.said
    assert not left.way or left.why.startswith("a gen") or left.way not in done.said


@pytest.mark.parametrize("left", LEFT, ids=NAMES)
def test_programs_read_the_same(repo: Repo, left: Left) -> None:
    left.fork(repo)
    repo.merge()
    solved = json.loads(repo.kmerge("solve", "--json", check=False).out)
    assert left.path in solved["unmerged"]
    listed = json.loads(repo.kmerge("resolve", "--list", "--json", check=False).out)
    alone = {row["path"]: row["why"] for row in listed["left_alone"]}
    assert (left.path in alone) != left.is_asked
    assert left.is_asked or left.why in alone[left.path]
    explained = json.loads(repo.kmerge("explain", "--json", check=False).out)
    whys = {file["path"]: file["why"] for file in explained["files"]} | explained["why_others"]
    assert left.why in whys[left.path]
    if not left.has_markers:
        checked = json.loads(repo.kmerge("check", "--merge", "--json", check=False).out)
        assert left.why in checked["why_skipped"][left.path]


TAKEN = [
    (encrypted, "--ours", "took ours unchanged; lost changes of theirs: Secret/s stringData.password (encrypted)"),
    (encrypted, "--theirs", "took theirs unchanged; lost changes of ours: Secret/s stringData.password (enc"),
    (generated, "--ours", "this generated file, but the merge took ours unchanged; lost changes of theirs: ConfigMap/c"),
    (deleted_by_us, "rm", "ours deleted this file, theirs changed it, and the merge deleted it; lost changes of theirs: "
     "ConfigMap/c data.a"),
    (deleted_by_them, "rm", "theirs deleted this file, ours changed it, and the merge deleted it; lost changes of ours"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "how", "words"), TAKEN)
@pytest.mark.costly
def test_what_a_side_taken_whole_leaves_out(
    repo: Repo, make: Callable[[Repo], None], how: str, words: str
) -> None:
    make(repo)
    repo.kmerge("merge", "side", check=False)
    if how == "rm":
        repo.git("rm", "-q", FILE)
    else:
        repo.git("checkout", how, "--", FILE)
        repo.git("add", FILE)
    for committed in (False, True):
        done = repo.kmerge("check", "--merge")
        assert f"{FILE}:1:1: warning M11 " in done.out and words in done.out
        assert done.out.count("warning M11") == 1 and "ENC[" not in done.out
        assert repo.kmerge("check", "--merge", "--ignore", "M11").out.count("M11") == 0
        if not committed:
            assert "lost changes of theirs" not in repo.kmerge("check", "--staged", check=False).out
            repo.git("commit", "-q", "-m", "merged")


def test_names_of_fields_and_recipients(repo: Repo) -> None:
    """What is named are fields and recipients; a cipher text is never shown, not even as a key."""
    base = secret("a", "1")
    theirs = secret("c", "3", "2").replace("    enc: x\n", "    enc: x\n  - recipient: age1b\n")
    theirs = theirs.replace("stringData:\n", "stringData:\n  new: ENC[AES256_GCM,data:n]\n")
    repo.fork({FILE: base}, {FILE: secret("b", "2")}, {FILE: theirs})
    repo.merge()
    repo.git("checkout", "--ours", "--", FILE)
    repo.git("add", FILE)
    done = repo.kmerge("check", "--merge")
    line = done.lines[0].partition("lost changes of theirs: ")[2]
    assert sorted(line.split(", ")) == [
        "Secret/s metadata.note",
        "Secret/s sops.age[1] (age1b)",
        "Secret/s stringData.new (encrypted)",
        "Secret/s stringData.password (encrypted)",
    ]
    assert "sops.mac" not in done.out and "lastmodified" not in done.out


def test_in_a_rebase(repo: Repo) -> None:
    encrypted(repo)
    repo.git("checkout", "-q", "-b", "mine", "side")
    assert repo.git("rebase", "main", check=False).code == 1
    repo.git("checkout", "--ours", "--", FILE)
    done = repo.kmerge("check", "--merge", check=False)
    assert done.code == 1 and f"not checked: {FILE}: it is still in conflict: a SOPS" in done.out
    repo.git("add", FILE)
    done = repo.kmerge("check", "--merge")
    assert "took ours unchanged; lost changes of theirs: Secret/s stringData.password" in done.out


# -- one word about each file ----------------------------------------------------------------------

_GIT_REUSES = re.compile(r"^(?:Resolved|Staged) '(.*)' using previous resolution\.$", re.MULTILINE)


def listed(line: str) -> set[str]:
    return set(line.rpartition(": ")[2].split(", "))


def assert_one_word(repo: Repo, done: Done) -> None:
    """No file is called resolved and left, and what is left is what git calls unmerged."""
    err = [line.removeprefix("kmerge: ") for line in done.err.splitlines()]
    left = {line.split(": ")[1] for line in err if line.startswith("conflict: ")}
    left |= {
        name for line in err if line.startswith("still in conflict (") for name in listed(line)
    }
    resolved = {
        name for line in err if line.startswith("git alone would merge ") for name in listed(line)
    }
    as_before = {
        name for line in err if line.startswith("rerere resolved ") for name in listed(line)
    }
    assert as_before == set(_GIT_REUSES.findall(done.said))
    assert left.isdisjoint(resolved | as_before)
    if "... and" not in done.err:  # all of them are named
        assert left - as_before == set(repo.unmerged()) - as_before
    for line in err:
        count = re.match(
            r"git alone would leave (\d+) files? in conflict, kmerge leaves (.*)", line
        )
        if count and "... and" not in done.err:
            assert count[2].replace("none", "0") == str(len(left - as_before))


SOLVED = "solved.yaml"
APART = [f"a: {a}\nb: {b}\n" for a, b in ("11", "21", "12")]


@pytest.mark.parametrize("left", LEFT[:-1], ids=NAMES[:-1])
def test_no_file_is_resolved_and_left(repo: Repo, left: Left) -> None:
    """Beside the file that is left, one is solved."""
    repo.commit("start", {SOLVED: APART[0]})
    left.fork(repo)
    for branch, text in (("side", APART[2]), ("main", APART[1])):
        repo.switch(branch)
        repo.write(SOLVED, text)
        repo.git("commit", "-q", "-m", "solved", "--", SOLVED)
    done = repo.kmerge("merge", "side", check=False)
    assert done.code == 1
    assert re.search(r"git alone would leave \d files? in conflict, kmerge leaves", done.err)
    assert_one_word(repo, done)


@pytest.mark.parametrize("is_staged", [False, True])
@pytest.mark.costly
def test_what_rerere_resolves_is_not_left(repo: Repo, is_staged: bool) -> None:
    repo.git("config", "rerere.enabled", "true")
    repo.git("config", "rerere.autoupdate", str(is_staged).lower())
    texts = [{FILE: text, "f.txt": text, "g.yaml": text + "  b: 1\n"} for text in TEXTS]
    repo.fork(*texts)
    assert_one_word(repo, repo.kmerge("merge", "side", check=False))
    for name in (FILE, "f.txt"):
        repo.write(name, MAP.format(9))
    repo.git("rerere")
    repo.git("merge", "--abort")
    done = repo.kmerge("merge", "side", check=False)
    assert (done.code, repo.text(FILE)) == (1, MAP.format(9))
    assert_one_word(repo, done)
    staged = " and staged them" if is_staged else ""
    assert f"kmerge: rerere resolved these files{staged}; check them: f.txt, {FILE}" in done.err
    assert f"conflict: g.yaml: ConfigMap/c data.a: {Why.BOTH_CHANGED}" in done.err
    left = ["g.yaml"] if is_staged else ["f.txt", FILE, "g.yaml"]
    assert repo.unmerged() == left
    repo.git("merge", "--abort")
    told = json.loads(repo.kmerge("merge", "side", "--json", check=False).out)
    assert told["left"] == left
