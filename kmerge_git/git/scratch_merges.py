"""Merges of two commits by `git merge-tree`, in a scratch repository that needs no working tree.

Renames, directories that were renamed, modes, deletions: all of that is git's own answer. Every
manifest that both sides changed comes back as stages, however well its lines merge. The scratch
repository reads the objects of the other one and keeps what a merge makes up; nothing is
written into the other one.

In a working tree git reads the attributes that lie there. Where there is none, or where a
commit alone may say how it is merged, the attribute files of that commit are laid out in the
scratch folder, which is their working tree.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha1
from itertools import takewhile
from pathlib import Path, PurePosixPath

from kmerge_git.bounds import LEFTOVER_SECONDS
from kmerge_git.errors import GitFailed, KmergeError, Unsupported
from kmerge_git.git.attribute_files import DEFAULTS, AttributeFile, select
from kmerge_git.git.driver_lines import MARKING, NAME, ONLY_MARK, marked
from kmerge_git.git.index_stages import Stages, read_stages
from kmerge_git.git.repository import Repository
from kmerge_git.git.run_git import ask_git, environment, git, git_version

SINCE = (2, 38)
# `could not fetch ID from promisor remote`, `unable to read tree (ID)`, `Could not read ID`
_LOST = re.compile(r"(?:fetch |read |\()([0-9a-f]{40})\b")


@dataclass(frozen=True, slots=True)
class Message:
    """What git says about some files: `kind` never changes, `text` is for people."""

    kind: str  # `Auto-merging`, `CONFLICT (contents)`, ..
    paths: tuple[str, ...]
    text: str

    @property
    def is_conflict(self) -> bool:
        """Whether the merge is not clean for this."""
        return self.kind.startswith("CONFLICT")


@dataclass(frozen=True, slots=True)
class MergedTree:
    """What git makes of two commits; the tree has git's markers where it is in conflict."""

    tree: str
    is_clean: bool
    conflicts: tuple[Stages, ...]
    messages: tuple[Message, ...]

    @property
    def merged(self) -> tuple[str, ...]:
        """The files whose lines git merged without a conflict."""
        touched = {m.paths[0] for m in self.messages if m.kind == "Auto-merging" and m.paths}
        return tuple(sorted(touched - {stages.path for stages in self.conflicts}))


def merge_tree(
    at: Scratch,
    ours: str,
    theirs: str,
    *,
    base: str | None = None,
    keep: bool = False,
    driver: bool = True,
    with_text: bool = False,
) -> MergedTree:
    """Merge two commits.

    `base`: against this tree, whatever their history says; then all three are trees. `keep`: the
    objects are kept (not together with `base`). Not `driver`: as git alone does it.
    `with_text`: what is left to us has git's merge in it, not ours alone; that takes much longer.
    """
    if base is not None:
        root = at.commit(base)
        ours, theirs = at.commit(ours, root), at.commit(theirs, root)
    top, words = at.marked(with_text=with_text) if driver else at.without_us()
    command = ("merge-tree", "--write-tree", "-z", "--messages", ours, theirs)
    env = at.environment(keep=keep)
    answer = ask_git(*words, *command, cwd=Path(top), env=env)
    if answer.code not in (0, 1) or not answer.out:
        version = git_version()
        if version < SINCE:
            why = f"git {version[0]}.{version[1]} cannot merge without a working tree"
            raise Unsupported(why, hint="git 2.38 or newer can")
        lost = _LOST.search(answer.err)
        if lost:
            raise at.repository.missing(lost[1])
        raise GitFailed(["git", *command], answer.code, answer.err)
    return _read(answer.out, is_clean=answer.code == 0)


def _read(out: str, *, is_clean: bool) -> MergedTree:
    """The answer: a tree, the stages, an empty word, the messages."""
    words = iter(out.split("\0")[:-1])
    tree = next(words)
    stages = read_stages(takewhile(bool, words))
    messages = []
    for word in words:
        paths = tuple(next(words) for _ in range(int(word)))
        messages.append(Message(next(words), paths, next(words).rstrip("\n")))
    return MergedTree(tree, is_clean, stages, tuple(messages))


PREFIX = "kmerge-scratch-"
ATTRIBUTES = ".gitattributes"
_CRDS = re.compile(rb"(?<=[ \t])kmerge-crd=(\S+)")
# of this one call (`git -c a.b=c kmerge`): the only variables that hold in a scratch folder, too
_GIVEN = ("GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS")


@dataclass(frozen=True, slots=True)
class Footing:
    """Where git makes a merge: the repository, the working tree whose attributes count."""

    git_dir: str
    worktree: str

    @property
    def words(self) -> list[str]:
        """The words right behind `git`."""
        return [f"--git-dir={self.git_dir}", f"--work-tree={self.worktree}"]


@dataclass(frozen=True, slots=True)
class Scratch:
    """The scratch folder of one repository."""

    folder: str
    objects: str  # of the repository itself
    shallow: str
    footing: Footing
    marking: tuple[str, ...]
    repository: Repository  # reads everything, writes into the scratch folder

    def environment(self, *, keep: bool = False) -> dict[str, str]:
        """For git: what it writes goes to the scratch folder, or is kept."""
        env = environment(any_repository=True)
        env |= {name: value for name, value in os.environ.items() if name in _GIVEN}
        if self.footing.git_dir == self.folder:
            env.pop("GIT_ATTR_SOURCE", None)
        at = self.objects if keep else os.path.join(self.folder, "objects")
        env |= {"GIT_OBJECT_DIRECTORY": at, "GIT_SHALLOW_FILE": self.shallow}
        # what a partial clone has never fetched is missed, not fetched behind the user's back
        env |= {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
        return env

    def marked(self, *, with_text: bool = False) -> tuple[str, list[str]]:
        """Where to run git, and the words behind `git` that leave every manifest to us.

        `with_text`: what is left has git's own merge in it; else it is ours as it was.
        """
        line = ("-c", f"merge.kmerge.driver={MARKING}") if with_text else ()
        return self.footing.worktree, [*self.footing.words, *self.marking, *line]

    def without_us(self) -> tuple[str, list[str]]:
        """The same for git's own merge, whoever registered the driver wherever (`alone` only)."""
        plain = Footing(self.folder, os.path.join(self.folder, "plain"))
        return plain.worktree, [*plain.words, "-c", f"core.attributesFile={os.devnull}"]

    def commit(self, tree: str, *parents: str) -> str:
        """A commit that nobody made, for git to find a merge base."""
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        nobody = "kmerge <kmerge> 0 +0000"
        text = "\n".join([*lines, f"author {nobody}", f"committer {nobody}", "", "made up\n"])
        data = b"commit %d\0" % len(text) + text.encode()
        oid = sha1(data, usedforsecurity=False).hexdigest()
        path = Path(self.folder, "objects", oid[:2], oid[2:])
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(zlib.compress(data, 1))
        return oid


@contextmanager
def scratch(
    repository: Repository, attributes_of: str | None = None, *, alone: bool = False
) -> Iterator[Scratch]:
    """A scratch folder, gone at the end.

    `attributes_of`: the attributes are those of this tree, not of the working tree; `alone`:
    neither do those count that lie inside git's directory.
    """
    _sweep()
    folder = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX))
    try:
        common, objects, shallow = _places(repository)
        if attributes_of is None and repository.worktree:
            footing = Footing(repository.git_dir, repository.worktree)
        else:
            footing = Footing(folder, os.path.join(folder, "files"))
        _lay_out(folder, objects, common, footing.worktree, alone=alone)
        twin = Repository.at(folder)
        twin.is_shallow = repository.is_shallow
        if attributes_of is not None:
            _take_files(twin, attributes_of, footing)
        with _marking(folder, footing, repository, alone=alone) as words:
            yield Scratch(folder, objects, shallow, footing, tuple(words), twin)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _marking(
    folder: str, footing: Footing, repository: Repository, *, alone: bool
) -> Iterator[list[str]]:
    if not alone:
        with marked(ONLY_MARK, Path(folder), Path(repository.worktree or folder)) as words:
            yield words
        return
    yield ["-c", f"merge.kmerge.name={NAME}", "-c", f"merge.kmerge.driver={ONLY_MARK}"]


def _places(repository: Repository) -> tuple[str, str, str]:
    """The common directory, the objects and the list of where a shallow history ends."""
    asked = ("--git-common-dir", "--git-path", "objects", "--git-path", "shallow")
    top = Path(repository.worktree or repository.git_dir)
    named = (f"--git-dir={repository.git_dir}", "rev-parse", "--path-format=absolute")
    told = git(*named, *asked, cwd=top).split("\n")
    if len(told) != 4:
        raise KmergeError("a path with a line break", path=repository.git_dir)
    return told[0], told[1], told[2]


def _lay_out(folder: str, objects: str, common: str, worktree: str, *, alone: bool) -> None:
    """The least that is a repository to git and to libgit2."""
    for name in ("objects/info", "refs", "info", "files", "plain"):
        os.makedirs(os.path.join(folder, name))
    if not alone:
        _copy(os.path.join(common, "info", "attributes"), os.path.join(folder, "info"))
    _write(folder, "HEAD", "ref: refs/heads/none\n")
    _write(folder, "objects/info/alternates", objects + "\n")
    path = _quoted(os.path.join(common, "config"))
    tree = _quoted(worktree)
    # an empty attr.tree: neither does git (2.43) take the attributes from anywhere else
    core = "[attr]\n\ttree =\n[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
    core += f'\tworktree = "{tree}"\n'
    if alone:  # the usual files are ours; nothing else is said but by the tree
        usual = select(AttributeFile(Path(), ""), [], DEFAULTS)[0]
        _write(folder, "usual", usual)
        core += f'\tattributesFile = "{_quoted(os.path.join(folder, "usual"))}"\n'
    _write(folder, "config", f'[include]\n\tpath = "{path}"\n{core}')


def _take_files(twin: Repository, tree: str, footing: Footing) -> None:
    """Lay out what a tree says about merges: its attributes, the definitions we are told of.

    Once more without our driver, for what git alone would do.
    """
    plain = os.path.join(os.path.dirname(footing.worktree), "plain")
    files = _plain_files(footing.git_dir, tree)
    wanted = {p: twin.blob(oid) for p, oid in files.items() if p.rpartition("/")[2] == ATTRIBUTES}
    places = [os.fsencode(v) for k, v in twin.settings() if k.lower() == "kmerge.crd"]
    places += b",".join(v for text in wanted.values() for v in _CRDS.findall(text)).split(b",")
    below = {os.path.normpath(os.fsdecode(place)).strip("/") for place in places if place}
    definitions = [p for p in files if any(f"{p}/".startswith(f"{place}/") for place in below)]
    wanted |= {path: twin.blob(files[path]) for path in definitions}
    for path, data in wanted.items():
        for top, text in ((footing.worktree, data), (plain, _without_us(data))):
            target = Path(top, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)


def _plain_files(git_dir: str, tree: str) -> dict[str, str]:
    """The regular files of a tree, and their ids."""
    told = git(f"--git-dir={git_dir}", "ls-tree", "-r", "-z", "--full-tree", tree)
    files = {}
    for line in told.split("\0")[:-1]:
        about, _, path = line.partition("\t")
        mode, kind, oid = about.split()
        if kind == "blob" and mode != "120000" and _is_inside(path):
            files[path] = oid
    return files


def _without_us(data: bytes) -> bytes:
    """An attribute file where git's own text merge stands in the place of our driver."""
    return re.sub(rb"(?<=[ \t])merge=kmerge(?=\s|$)", b"merge=text", data)


def _is_inside(path: str) -> bool:
    """Whether a path of a tree leads nowhere else; a tree can be made by hand."""
    parts = PurePosixPath(path).parts
    return not path.startswith("/") and not {"..", ".git"} & {part.lower() for part in parts}


def _copy(path: str, folder: str) -> None:
    if os.path.isfile(path):
        shutil.copy(path, folder)


def _write(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "wb") as file:
        file.write(os.fsencode(text))


def _quoted(path: str) -> str:
    """A path between double quotes."""
    return path.replace("\\", "\\\\").replace('"', '\\"')


def _sweep() -> None:
    """Throw away what a killed run left behind."""
    now = time.time()
    try:
        with os.scandir(tempfile.gettempdir()) as found:
            old = [e.path for e in found if e.name.startswith(PREFIX) and _is_left(e, now)]
    except OSError:
        return
    for path in old:
        shutil.rmtree(path, ignore_errors=True)


def _is_left(entry: os.DirEntry[str], now: float) -> bool:
    about = entry.stat(follow_symlinks=False)
    is_ours = not hasattr(os, "getuid") or about.st_uid == os.getuid()
    return (
        is_ours and entry.is_dir(follow_symlinks=False) and now - about.st_mtime > LEFTOVER_SECONDS
    )
