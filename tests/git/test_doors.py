"""One merge, many commands: every kind of file has one answer, whatever command makes the merge.

All kinds are merged together, each in a folder of its own, once by each command and once with the
sides swapped. What is right comes from the edits of the kind. Git's own merge stands beside it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import pytest
from manifests import deployment, service, stream
from world import Driven, Repo, World, living

from kmerge_git.git.driver_lines import NAME, driver_line

pytestmark = pytest.mark.costly  # its tests share what costs

Files = dict[str, str]


# -- the kinds


@dataclass(frozen=True)
class Kind:
    """The versions of some files, and the files that a right merge has; None is a conflict.

    `spans` says that a merge of single files cannot see it, as git's own merge with the driver.
    """

    name: str
    base: Files
    ours: Files
    theirs: Files
    wanted: Files | None = None
    spans: bool = False

    @property
    def swapped(self) -> Kind:
        """The same merge with the sides in the other order."""
        return Kind(self.name, self.base, self.theirs, self.ours, self.wanted, self.spans)

    @property
    def folder(self) -> str:
        """The folder of its files, as a prefix."""
        return self.name.replace(" ", "-").replace(",", "") + "/"

    def side(self, name: str) -> Files:
        """The files of a version, with names of resources that no other kind has."""
        versions = {"base": self.base, "ours": self.ours, "theirs": self.theirs}
        return {path: self._own(text) for path, text in versions[name].items()}

    @property
    def result(self) -> Files | None:
        """The files of a right merge, or None if it is a conflict."""
        if self.wanted is None:
            return None
        return {path: self._own(text) for path, text in self.wanted.items()}

    def _own(self, text: str) -> str:
        for name in ("s", "web"):
            text = text.replace(f"  name: {name}\n", f"  name: {name}-{self.folder[:-1]}\n")
        return text

    def texts(self, answer: Answer) -> Files:
        """Its files in an answer."""
        every = answer.files.items()
        start = len(self.folder)
        return {path[start:]: data.decode() for path, data in every if path.startswith(self.folder)}

    def of(self, files: Iterable[str]) -> set[str]:
        """Those of the files that are in its folder, without the folder."""
        return {path.removeprefix(self.folder) for path in files if path.startswith(self.folder)}


def one(name: str, *texts: str | None, path: str = "app.yaml", spans: bool = False) -> Kind:
    """A kind of one file: base, ours, theirs and, if the merge is clean, the result."""
    files = [{path: text} if text is not None else {} for text in texts]
    return Kind(name, *files, spans=spans)


def sealed(
    value: str = "v1",
    mac: str = "m1",
    *,
    note: str = "n1",
    comment: str = "",
    keys: str = "k1",
    partly: bool = False,
) -> str:
    """A file in the format of SOPS, with a plain field, an encrypted one and recipients."""
    recipients = "".join(f"  - recipient: {key}\n    enc: of-{key}\n" for key in keys.split())
    return (
        f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  labels:\n    app: s\n"
        f"{comment}  annotations:\n    note: {note}\n"
        f"stringData:\n  password: ENC[AES256_GCM,data:{value},type:str]\n  more: x\nsops:\n"
        f"  age:\n{recipients}  lastmodified: '{mac}'\n  mac: ENC[AES256_GCM,data:{mac},type:str]\n"
        + ("  mac_only_encrypted: true\n" if partly else "")
        + "  version: 3.9.0\n"
    )


def opened(value: str = "secret", note: str = "n1") -> str:
    """The same file, decrypted."""
    text = sealed(note=note).partition("sops:")[0]
    return text.replace("ENC[AES256_GCM,data:v1,type:str]", value)


COMMENT = "  # about the name\n"
SEALED = (
    one("sealed, both edited", sealed(), sealed("v2", "m2"), sealed("v3", "m3")),
    one("sealed, edited here", sealed(), sealed("v2", "m2"), sealed(), sealed("v2", "m2")),
    one("sealed, edited and commented", sealed(), sealed("v2", "m2"), sealed(comment=COMMENT)),
    one("sealed, plain field by hand", sealed(), sealed("v2", "m2"), sealed(note="n2")),
    one(
        "sealed, mac only",
        sealed(partly=True),
        sealed("v2", "m2", partly=True),
        sealed(note="n2", partly=True),
    ),
    one("sealed, key added and rotated", sealed(), sealed(mac="m1", keys="k1 k2"), sealed("v3", "m3", keys="k3")),
    one("sealed, encrypted with another key", sealed(), sealed("v4", "m4", keys="k4"), sealed("v2", "m2")),
    one("decrypted", sealed(), opened(), sealed(note="n2")),
    one("decrypted, edited there", sealed(), opened(), sealed("v2", "m2")),
    one("encrypted", opened(), sealed(), opened(note="n2")),
    one("sealed, deleted here", sealed(), None, sealed("v2", "m2")),
    Kind(
        "sealed, file renamed",
        {"a.yaml": sealed()},
        {"b.yaml": sealed()},
        {"a.yaml": sealed("v2", "m2")},
        {"b.yaml": sealed("v2", "m2")},
    ),
    Kind(
        "decrypted and moved",
        {"a.yaml": sealed()},
        {"b.yaml": opened()},
        {"a.yaml": sealed(note="n2")},
        spans=True,
    ),
    Kind(
        "decrypted and moved, edited there",
        {"a.yaml": sealed()},
        {"b.yaml": opened()},
        {"a.yaml": sealed("v2", "m2")},
        spans=True,
    ),
    Kind(
        "sealed, file renamed, both edited",
        {"a.yaml": sealed()},
        {"b.yaml": sealed("v3", "m3")},
        {"a.yaml": sealed("v2", "m2")},
    ),
)  # fmt: skip


def anchored(first: str = "1", second: str = "2", *, last: str = "*k", between: str = "") -> str:
    """A file in which one anchor is defined twice; an alias means the definition before it."""
    later = f"later: &k {second}\n" if second else ""
    return f"first: &k {first}\nuses: *k\n{between}a: a\nb: b\nc: c\n{later}d: d\ne: e\nf: f\n" + (
        f"last: {last}\n" if last else ""
    )


ANCHORS = (
    one("anchors, far", anchored(), anchored("11"), anchored(second="22"), anchored("11", "22")),
    one(
        "anchors, near",
        "a: &k 1\nb: *k\nc: &k 2\nd: *k\n",
        "a: &k 11\nb: *k\nc: &k 2\nd: *k\n",
        "a: &k 1\nb: *k\nc: &k 22\nd: *k\n",
        "a: &k 11\nb: *k\nc: &k 22\nd: *k\n",
    ),
    one("anchors, one definition, both edited", anchored(), anchored("11"), anchored("12")),
    one("anchors, deleted definition", anchored(last=""), anchored(second="", last=""), anchored()),
    one(
        "anchors, definition and alias added",
        anchored(second="", last=""),
        anchored(last=""),
        anchored(second=""),
    ),
    one(
        "anchors, moved alias",
        anchored(last=""),
        anchored("11", last=""),
        anchored(last="*k"),
        anchored("11", last="*k"),
    ),
)  # fmt: skip


def template(then: str = "one: 1", other: str = "two: 1", *, more: str = "") -> str:
    """A template with two branches."""
    return (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  {{- if .Values.a }}\n"
        f"  {then}\n  {{{{- else }}}}\n  {other}\n  {{{{- end }}}}\n  last: 1\n{more}"
    )


CHART = "templates/web.yaml"
TEMPLATES = (
    one(
        "template, two branches",
        *(template(), template("one: 2"), template(other="two: 2"), template("one: 2", "two: 2")),
        path=CHART,
    ),
    one("template, one branch", template(), template("one: 2"), template("one: 3"), path=CHART),
    one(
        "template, a key of both",
        *(template(), template("one: 1\n  new: a"), template("one: 1\n  new: b")),
        path=CHART,
    ),
    one(
        "template, twice in a branch",
        "data:\n  {{- if .Values.a }}\n  one: 1\n  two: 1\n  three: 1\n  {{- end }}\n",
        "data:\n  {{- if .Values.a }}\n  new: 1\n  one: 1\n  two: 1\n  three: 1\n  {{- end }}\n",
        "data:\n  {{- if .Values.a }}\n  one: 1\n  two: 1\n  three: 1\n  new: 2\n  {{- end }}\n",
        path=CHART,
    ),
)


def moved() -> Iterable[Kind]:
    """Resources that move between files; the names differ between the kinds."""

    def kept(kind: str, count: int = 1) -> str:
        return deployment(count, name=f"kept-{kind}")

    def other(kind: str, image: str = "app:1", count: int = 1) -> str:
        return deployment(count, image, name=f"other-{kind}")

    def both(kind: str, port: int) -> str:
        return stream(kept(kind), service(port, f"s-{kind}"))

    def alone(kind: str, port: int) -> str:
        return service(port, f"s-{kind}")

    a = "new"
    yield Kind(
        "moved to a new file",
        {"old.yaml": both(a, 80)},
        {"old.yaml": kept(a), "new.yaml": alone(a, 80)},
        {"old.yaml": both(a, 81)},
        {"old.yaml": kept(a), "new.yaml": alone(a, 81)},
        spans=True,
    )
    a = "there"
    yield Kind(
        "moved to a file that is there",
        {"old.yaml": both(a, 80), "new.yaml": other(a)},
        {"old.yaml": kept(a), "new.yaml": stream(other(a), alone(a, 80))},
        {"old.yaml": both(a, 81), "new.yaml": other(a)},
        {"old.yaml": kept(a), "new.yaml": stream(other(a), alone(a, 81))},
        spans=True,
    )
    a = "changed"
    yield Kind(
        "moved to a file that was changed",
        {"old.yaml": both(a, 80), "new.yaml": other(a)},
        {"old.yaml": kept(a), "new.yaml": stream(other(a), alone(a, 80))},
        {"old.yaml": both(a, 81), "new.yaml": other(a, "app:2")},
        {"old.yaml": kept(a), "new.yaml": stream(other(a, "app:2"), alone(a, 81))},
        spans=True,
    )
    a = "same"
    yield Kind(
        "moved to one file on both sides",
        {"old.yaml": both(a, 80), "new.yaml": other(a)},
        {"old.yaml": kept(a), "new.yaml": stream(other(a), alone(a, 80))},
        {"old.yaml": kept(a), "new.yaml": stream(other(a, "app:2"), alone(a, 80))},
        {"old.yaml": kept(a), "new.yaml": stream(other(a, "app:2"), alone(a, 80))},
    )
    a = "apart"
    yield Kind(
        "moved to two files",
        {"old.yaml": both(a, 80), "x.yaml": other(a + "x"), "y.yaml": other(a + "y")},
        {"old.yaml": kept(a), "x.yaml": stream(other(a + "x"), alone(a, 80)), "y.yaml": other(a + "y")},
        {"old.yaml": kept(a), "x.yaml": other(a + "x"), "y.yaml": stream(other(a + "y"), alone(a, 80))},
        spans=True,
    )  # fmt: skip
    a = "gone"
    yield Kind(
        "deleted in theirs, moved in ours",
        {"old.yaml": both(a, 80), "new.yaml": other(a)},
        {"old.yaml": kept(a), "new.yaml": stream(other(a), alone(a, 80))},
        {"old.yaml": kept(a), "new.yaml": other(a)},
        {"old.yaml": kept(a), "new.yaml": stream(other(a), alone(a, 80))},
    )


ORDINARY = (
    one("a value", deployment(1), deployment(2), deployment(3)),
    one(
        "two fields",
        *(deployment(1), deployment(2), deployment(1, "app:2"), deployment(2, "app:2")),
    ),
    one("deleted here", deployment(1), None, deployment(2)),
    one("binary", "a\0\n", "b\0\n", "c\0\n"),
    one("generated", deployment(1), deployment(2), deployment(3), path="generated.yaml"),
)
# `one` puts the fourth text into `wanted`
KINDS = (*SEALED, *ANCHORS, *TEMPLATES, *moved(), *ORDINARY)


# -- the doors


@dataclass(frozen=True)
class Answer:
    """What a merge left: the files, those in conflict, and all that was said about it."""

    files: dict[str, bytes]
    unmerged: set[str]
    words: str = ""
    checked: str = ""  # what `kmerge check --merge` finds
    has_files: bool = True  # a command may only name the files in conflict


def read(repo: Repo) -> dict[str, bytes]:
    found = (path for path in repo.path.rglob("*") if path.is_file())
    names = {path.relative_to(repo.path).as_posix(): path for path in found}
    return {name: path.read_bytes() for name, path in names.items() if name[:5] != ".git/"}


def left(repo: Repo, words: str) -> Answer:
    """What is there after a command, with all that can be asked about it."""
    asked = (("resolve", "--list"), ("explain",))
    words += "".join(repo.kmerge(*line, check=False).said for line in asked)
    return Answer(read(repo), set(repo.unmerged()), words, checked(repo))


def checked(repo: Repo) -> str:
    return repo.kmerge("check", "--merge", check=False).said


def by_git(repo: Repo) -> Answer:
    repo.merge("--no-commit")
    return Answer(read(repo), set(repo.unmerged()))


def by_driver(repo: Repo) -> Answer:
    drive(repo)
    return left(repo, repo.merge("--no-commit").said)


def by_rebase(repo: Repo) -> Answer:
    drive(repo)
    repo.git("checkout", "-q", "-b", "mine", "side")
    return left(repo, repo.git("rebase", "main", check=False).said)


def by_merge(repo: Repo) -> Answer:
    return left(repo, repo.kmerge("merge", "side", "--no-commit", check=False).said)


def by_preview(repo: Repo) -> Answer:
    done = repo.kmerge("preview", "side", "--write-tree", check=False)
    told = json.loads(repo.kmerge("preview", "side", "--json", check=False).out)
    repo.git("read-tree", "--reset", "-u", done.lines[0])
    paths = {file["path"] for file in told["steps"][0]["files"] if file["result"] == "conflict"}
    return Answer(read(repo), paths, done.said)


def by_solve(repo: Repo) -> Answer:
    repo.merge("--no-commit")
    return left(repo, repo.kmerge("solve", check=False).said)


def by_driver_and_solve(repo: Repo) -> Answer:
    drive(repo)
    repo.merge("--no-commit")
    return left(repo, repo.kmerge("solve", check=False).said)


def by_resolve(repo: Repo) -> Answer:
    """What `resolve` would ask and leave alone; its first answer stages all that it settles."""
    repo.merge("--no-commit")
    told = json.loads(repo.kmerge("resolve", "--list", "--json", check=False).out)
    rows = (*told["conflicts"], *told["left_alone"])
    found = checked(repo)
    done = repo.kmerge("resolve", "--take", "ours", check=False)
    return Answer(read(repo), {row["path"] for row in rows}, done.said, found)


def by_refresh(repo: Repo) -> Answer:
    repo.git("branch", "topic", "main")
    repo.git("checkout", "-q", "--detach")
    done = repo.kmerge("refresh", "--with", "side", "topic", "--json", check=False)
    (branch,) = json.loads(done.out)["branches"]
    paths = {row["path"] for row in branch["files"] if row["result"] == "conflict"}
    repo.git("checkout", "-q", "topic")
    return Answer(read(repo), paths, done.said, has_files=done.code == 0)


def drive(repo: Repo) -> None:
    repo.git("config", "merge.kmerge.name", NAME)
    Driven(repo.world, repo.path).drive(driver_line())
    repo.write(".git/info/attributes", ATTRIBUTES + "*.yaml merge=kmerge\n")


ATTRIBUTES = "generated.yaml kmerge-generated\n"
Door = Callable[[Repo], Answer]
DOORS: tuple[Door, ...] = (
    by_driver,
    by_rebase,
    by_merge,
    by_preview,
    by_solve,
    by_driver_and_solve,
    by_resolve,
    by_refresh,
)
SINGLE = (by_driver, by_rebase)  # git asks the driver about one file after the other
AFTER = (by_solve, by_resolve)  # git alone merges first, and leaves them only its conflicts
# after a rebase no check knows what both sides did; what git alone merged right needs no word
GIT_IS_RIGHT = ("sealed, edited and commented", "sealed, mac only", "decrypted")
UNTOLD = {(by_rebase, "moved to two files"), *product(AFTER, GIT_IS_RIGHT)}


def fork(world: World, name: str, kinds: Iterable[Kind]) -> Repo:
    """A repository on `main` (ours), with `side` (theirs), and the files of all kinds in both."""
    repo = world.init(name)
    repo.write(".git/info/attributes", ATTRIBUTES)
    chosen = list(kinds)
    versions: list[Files] = [
        {kind.folder + path: text for kind in chosen for path, text in kind.side(side).items()}
        for side in ("base", "theirs", "ours")
    ]
    lines = ""
    for mark, (branch, files) in enumerate(zip(("main", "side", "main"), versions, strict=True)):
        lines += f"commit refs/heads/{branch}\nmark :{mark + 1}\n"
        lines += "committer Ada <ada@example.org> 1700000000 +0000\ndata 2\nx\n"
        lines += ("from :1\n" if mark else "") + "deleteall\n"
        for path, text in files.items():
            lines += f"M 100644 inline {path}\ndata {len(text)}\n{text}\n"
    repo.git("fast-import", "--quiet", "--force", stdin=lines + "done\n")
    repo.git("read-tree", "--reset", "-u", "HEAD")
    return repo


# -- the laws

ORDERS = {"as it is": KINDS, "swapped": tuple(kind.swapped for kind in KINDS)}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Door], Answer]:
    """The answers of each command to all kinds; every merge is made once."""
    known: dict[tuple[str, str], Answer] = {}

    def answer(order: str, door: Door) -> Answer:
        key = (order, door.__name__)
        if key not in known:
            with living(tmp_path_factory.mktemp("doors")) as world:
                known[key] = door(fork(world, "repo", ORDERS[order]))
        return known[key]

    return answer


def is_unseen(kind: Kind, door: Door, git: Answer) -> bool:
    """Whether a command cannot see what is in conflict, because git merges before it."""
    return kind.spans if door in SINGLE else door in AFTER and not kind.of(git.unmerged)


def faults(kind: Kind, door: Door, answer: Answer, git: Answer) -> Iterator[str]:
    """What is wrong with the answer of a command to a kind; `git` is the answer of git alone."""
    unmerged, files = kind.of(answer.unmerged), kind.texts(answer)
    unseen = is_unseen(kind, door, git)
    if kind.wanted is None:
        is_told = kind.folder in answer.checked or (door, kind.name) in UNTOLD
        if not unmerged and not (unseen and is_told):
            yield "clean, and no word about it"
    elif unmerged and not unseen:
        yield f"conflict in {sorted(unmerged)}"
    elif not unmerged and answer.has_files and files != kind.result:
        yield f"wrong: {files}"
    if answer.has_files and unmerged:
        yield from lost(kind, answer, files)


def lost(kind: Kind, answer: Answer, files: Files) -> Iterator[str]:
    """What no file has of a side, if no word names the file that had it.

    These are lines that the side has more often than base.
    """
    there = Counter(line.strip() for text in files.values() for line in text.split("\n"))
    for side in ("ours", "theirs"):
        for path, text in kind.side(side).items():
            base = Counter(line.strip() for line in kind.base.get(path, "").split("\n"))
            new = Counter(line.strip() for line in text.split("\n")) - base
            gone = [line for line in new if not there[line]]
            if gone and kind.folder + path not in answer.words:
                yield f"{side}: {gone} of {path} is nowhere, and no word names it"


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_each_kind_has_one_answer(
    answers: Callable[[str, Door], Answer], door: Door, order: str
) -> None:
    answer = answers(order, door)
    git = answers(order, by_git)
    found = {kind.name: list(faults(kind, door, answer, git)) for kind in ORDERS[order]}
    assert not {name: wrong for name, wrong in found.items() if wrong}


@pytest.mark.parametrize("order", ORDERS)
def test_the_same_files_are_left_by_all(answers: Callable[[str, Door], Answer], order: str) -> None:
    for kind in ORDERS[order]:
        doors = [door for door in DOORS if not is_unseen(kind, door, answers(order, by_git))]
        named = {door.__name__: sorted(kind.of(answers(order, door).unmerged)) for door in doors}
        assert len(set(map(tuple, named.values()))) == 1, (kind.name, named)


@pytest.mark.parametrize("order", ORDERS)
def test_where_git_is_right_so_are_all(answers: Callable[[str, Door], Answer], order: str) -> None:
    git = answers(order, by_git)
    right = [
        kind
        for kind in ORDERS[order]
        if not kind.of(git.unmerged) and kind.texts(git) == kind.result
    ]
    assert len(right) > 5
    for kind in right:
        for door in DOORS:
            answer = answers(order, door)
            assert not kind.of(answer.unmerged), (kind.name, door)
            assert not answer.has_files or kind.texts(answer) == kind.texts(git)


def test_git_alone_is_clean_and_wrong_somewhere(
    answers: Callable[[str, Door], Answer],
) -> None:
    """The table is no table of git's own answers."""
    git = answers("as it is", by_git)
    wrong = [
        kind.name for kind in KINDS if not kind.of(git.unmerged) and kind.texts(git) != kind.result
    ]
    assert "moved to two files" in wrong
    assert "template, twice in a branch" in wrong
