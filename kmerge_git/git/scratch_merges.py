"""Merge two commits with `git merge-tree`, in a scratch repository without a working tree.

Git itself decides about renames, renamed directories, modes and deletions. Every manifest that
both sides changed comes back as stages, however well its lines merge. The scratch repository reads
the objects of the original repository and keeps the new objects of a merge; nothing is written
into the original repository.

In a working tree git reads the attribute files of that tree. If there is no working tree, or if
only the attributes of one commit may count, the attribute files of that commit are written into
the scratch folder, which serves git as working tree.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from itertools import takewhile
from pathlib import Path

from kmerge_git.bounds import AHEAD_SECONDS, LEFTOVER_SECONDS
from kmerge_git.errors import GitFailed, KmergeError, Unsupported
from kmerge_git.git.attribute_files import DEFAULTS, AttributeFile, select
from kmerge_git.git.driver_lines import MARKING, NAME, ONLY_MARK, marked
from kmerge_git.git.index_stages import Stages, read_stages
from kmerge_git.git.objects import EMPTY_TREE, FOLDER, LOST, nodes
from kmerge_git.git.repository import Repository
from kmerge_git.git.run_git import (
    GIVEN,
    OFFLINE,
    ask_git,
    environment,
    git,
    git_version,
    to_its_end,
)

SINCE = (2, 38)
_COMMAND = ("merge-tree", "--write-tree", "-z", "--messages")


@dataclass(frozen=True, slots=True)
class Message:
    """Hold a message of git about some files; `kind` is a fixed keyword, `text` is for people."""

    kind: str  # `Auto-merging`, `CONFLICT (contents)`, ..
    paths: tuple[str, ...]
    text: str

    @property
    def is_conflict(self) -> bool:
        """Return whether the message is about a conflict."""
        return self.kind.startswith("CONFLICT")


@dataclass(frozen=True, slots=True)
class MergedTree:
    """Hold git's merge of two commits; a file in conflict has git's markers in the tree."""

    tree: str
    is_clean: bool
    conflicts: tuple[Stages, ...]
    messages: tuple[Message, ...]

    @property
    def merged(self) -> tuple[str, ...]:
        """Return the files whose lines git merged without a conflict."""
        touched = {m.paths[0] for m in self.messages if m.kind == "Auto-merging" and m.paths}
        return tuple(sorted(touched - {stages.path for stages in self.conflicts}))


def merge_tree(
    at: Scratch,
    ours: str,
    theirs: str,
    *,
    base: str | None = None,
    driver: bool = True,
    with_text: bool = False,
) -> MergedTree:
    """Merge two commits.

    `base` is the merge base, whatever the history says; with `base` all three versions are trees.
    Without `driver` git merges alone. With `with_text`, the files that are left to kmerge hold
    git's merge instead of ours, which takes much longer.
    """
    if not (base or with_text) and (made := at.made.get((ours, theirs, driver))):
        return made
    if base is not None:
        root = at.commit(base)
        ours, theirs = at.commit(ours, root), at.commit(theirs, root)
    worktree, words = at.marked(with_text=with_text) if driver else at.without_us()
    command = (*_COMMAND, ours, theirs)
    answer = ask_git(*words, *command, cwd=worktree, env=at.environment())
    if answer.code not in (0, 1) or not answer.out:
        version = git_version()
        if version < SINCE:
            why = f"git {version[0]}.{version[1]} cannot merge without a working tree"
            raise Unsupported(why, hint="update to git 2.38 or newer")
        lost = LOST.search(answer.err)
        if lost:
            raise at.repository.missing(lost[1])
        raise GitFailed(["git", *command], answer.code, answer.err)
    merged = _read(iter(answer.out.split("\0")), is_clean=answer.code == 0)
    at.repository.expect(stages.path for stages in merged.conflicts)
    return merged


def merge_ahead(at: Scratch, pairs: Sequence[tuple[str, str]]) -> None:
    """Make the merges of pairs of commits in one process, for `merge_tree` to return them.

    Those with a conflict are made by git alone, too. Raise an error if git cannot make many merges,
    as before version 2.39, or takes long.
    """
    at.made.clear()
    for driver in (True, False):
        worktree, words = at.marked() if driver else at.without_us()
        asked = [pair for pair in pairs if driver or not at.made[*pair, True].is_clean]
        answer = ask_git(
            *words,
            *_COMMAND,
            "--stdin",
            cwd=worktree,
            stdin="".join(f"{ours} {theirs}\n" for ours, theirs in asked),
            env=at.environment(),
            seconds=AHEAD_SECONDS,
        )
        told = iter(answer.checked().out.split("\0"))
        at.made.update({(*pair, driver): _read(told, is_clean=next(told) == "1") for pair in asked})
    at.repository.expect({s.path: s for merged in at.made.values() for s in merged.conflicts})


def _read(words: Iterator[str], *, is_clean: bool) -> MergedTree:
    """Parse git's answer: a tree, the stages, an empty word, and the messages.

    The last word is empty, or what git advises about submodules.
    """
    tree = next(words)
    stages = read_stages(takewhile(bool, words))
    messages = []
    for word in takewhile(str.isdigit, words):
        paths = tuple(next(words) for _ in range(int(word)))
        messages.append(Message(next(words), paths, next(words).rstrip("\n")))
    return MergedTree(tree, is_clean, stages, tuple(messages))


PREFIX = "kmerge-scratch-"
ATTRIBUTES = ".gitattributes"
_CRDS = re.compile(rb"(?<=[ \t])kmerge-crd=(\S+)")


@dataclass(frozen=True, slots=True)
class Scratch:
    """Hold the scratch folder of one repository, in which git merges."""

    folder: str
    shallow: str
    git_dir: str  # the repository in which git merges
    worktree: str  # the attribute files in this folder count
    marks: str  # the same files, by which git leaves manifests as binary files; or ''
    marking: tuple[str, ...]
    is_sha256: bool  # its objects have names of this kind
    repository: Repository  # reads both repositories, and writes into the scratch folder
    # merges that were made ahead, by the two commits and whether our driver had a part in it
    made: dict[tuple[str, str, bool], MergedTree] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Return git's environment, in which new objects go to the scratch folder."""
        env = environment(any_repository=True)
        env |= {name: os.environ[name] for name in GIVEN if name in os.environ}
        if self.git_dir == self.folder:
            env.pop("GIT_ATTR_SOURCE", None)
        objects = os.path.join(self.folder, "objects")
        return env | {"GIT_OBJECT_DIRECTORY": objects, "GIT_SHALLOW_FILE": self.shallow} | OFFLINE

    def marked(self, *, with_text: bool = False) -> tuple[str, list[str]]:
        """Return the folder for git, and the options that leave every manifest to kmerge.

        With `with_text`, a manifest that is left to kmerge holds git's own merge; otherwise the
        manifest holds the unchanged text of ours.
        """
        if with_text or not self.marks:
            line = ("-c", f"merge.kmerge.driver={MARKING}") if with_text else ()
            return self.worktree, [*_at(self.git_dir, self.worktree), *self.marking, *line]
        # the built-in driver for binary files needs no process
        usual = ("-c", f"core.attributesFile={self.marks}.usual")
        return self.marks, [*_at(self.git_dir, self.marks), *self.marking, *usual]

    def without_us(self) -> tuple[str, list[str]]:
        """Return the folder and the options for git's own merge without any registered driver.

        This works only in a scratch folder that was made with `alone`.
        """
        plain = os.path.join(self.folder, "plain")
        return plain, [*_at(self.folder, plain), "-c", f"core.attributesFile={os.devnull}"]

    def hand_over(self, tree: str, sides: Sequence[str], into: Repository) -> None:
        """Copy a tree, as far as only the scratch folder has it; the trees of the sides are there.

        What a tree holds comes before the tree: the copy may end at any time.
        """
        todo = [(tree, sides)]
        for at in todo:  # `todo` grows on the way
            new, *old = ({*nodes(self.repository.blob(each), each)} for each in (at[0], *at[1]))
            for name, (mode, oid) in new.difference(*old):
                if mode == FOLDER:
                    below = [o.hex() for row in old for n, (m, o) in row if (n, m) == (name, mode)]
                    todo.append((oid.hex(), below))
                elif self._has_made(oid.hex()):
                    into.store(self.repository.blob(oid.hex()))
        for folder, _ in reversed(todo):
            if self._has_made(folder):
                into.store(self.repository.blob(folder), "tree")

    def _has_made(self, oid: str) -> bool:
        return os.path.exists(os.path.join(self.folder, "objects", oid[:2], oid[2:]))

    def commit(self, tree: str, *parents: str) -> str:
        """Write a commit from which git can find a merge base, and return the id of the commit."""
        named = sha256 if self.is_sha256 else sha1
        if tree == EMPTY_TREE:
            tree = named(b"tree 0\0", usedforsecurity=False).hexdigest()
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        nobody = "kmerge <kmerge> 0 +0000"
        text = "\n".join([*lines, f"author {nobody}", f"committer {nobody}", "", "made up\n"])
        data = b"commit %d\0" % len(text) + text.encode()
        oid = named(data, usedforsecurity=False).hexdigest()
        path = Path(self.folder, "objects", oid[:2], oid[2:])
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(zlib.compress(data, 1))
        return oid


@contextmanager
def scratch(
    repository: Repository, attributes_of: str | None = None, *, alone: bool = False
) -> Iterator[Scratch]:
    """Yield a scratch folder, which is removed at the end.

    `attributes_of` is a tree whose attributes replace those of the working tree. With `alone`, the
    attributes inside git's directory do not count either.
    """
    _sweep()
    folder = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX))
    try:
        common, objects, shallow, named = _places(repository)
        git_dir, worktree = folder, os.path.join(folder, "files")
        if attributes_of is None and repository.worktree:
            git_dir, worktree = repository.git_dir, repository.worktree
        _lay_out(folder, objects, common, worktree, named, alone=alone)
        twin = Repository.at(folder)
        twin.is_shallow = repository.is_shallow
        if attributes_of is not None:
            _take_files(twin, attributes_of, git_dir, worktree)
        # a driver of this name would replace the built-in one
        has_binary = any(name.startswith("merge.binary.") for name, _ in twin.settings())
        marks = os.path.join(folder, "marks") if alone and not has_binary else ""
        with _marking(folder, repository, alone=alone) as words:
            yield Scratch(
                folder, shallow, git_dir, worktree, marks, tuple(words), named == "sha256", twin
            )
    finally:
        with to_its_end() as interrupts:  # a second Ctrl-C, or the first at the end of the work
            shutil.rmtree(folder, ignore_errors=True)
        if interrupts:
            raise KeyboardInterrupt


def _at(git_dir: str, worktree: str) -> list[str]:
    return [f"--git-dir={git_dir}", f"--work-tree={worktree}"]


def _marking(
    folder: str, repository: Repository, *, alone: bool
) -> AbstractContextManager[list[str]]:
    """Return a context manager that yields the options to make the driver only mark conflicts."""
    if not alone:
        return marked(ONLY_MARK, Path(folder), Path(repository.worktree or folder))
    return nullcontext(
        ["-c", f"merge.kmerge.name={NAME}", "-c", f"merge.kmerge.driver={ONLY_MARK}"]
    )


def _places(repository: Repository) -> tuple[str, str, str, str]:
    """Return the common directory, the folder of objects, the file `shallow`, and the hash.

    The file `shallow` lists the commits at which a shallow history ends.
    """
    asked = ["--git-common-dir", "--git-path", "objects", "--git-path", "shallow"]
    asked.append("--show-object-format")
    words = (f"--git-dir={repository.git_dir}", "rev-parse", "--path-format=absolute", *asked)
    paths = git(*words, cwd=repository.worktree or repository.git_dir).split("\n")
    if len(paths) != 5:
        raise KmergeError(
            "kmerge needs a repository path without a line break", path=repository.git_dir
        )
    return paths[0], paths[1], paths[2], paths[3]


def _lay_out(
    folder: str, objects: str, common: str, worktree: str, named: str, *, alone: bool
) -> None:
    """Write the minimal files that git and libgit2 accept as a repository."""
    for name in ("objects/info", "refs", "info", "files", "plain", "marks"):
        os.makedirs(os.path.join(folder, name))
    with suppress(FileNotFoundError):
        if not alone:
            shutil.copy(os.path.join(common, "info", "attributes"), os.path.join(folder, "info"))
    _write(folder, "HEAD", "ref: refs/heads/none\n")
    more = os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(os.pathsep)  # of a server
    alternates = "".join(f"{place}\n" for place in (objects, *filter(os.path.isabs, more)))
    _write(folder, "objects/info/alternates", alternates)
    config = f"[include]\n\tpath = {_quoted(os.path.join(common, 'config'))}\n"
    # an empty attr.tree: git (2.43) does not take the attributes from anywhere else either
    config += "[attr]\n\ttree =\n[core]\n\tbare = false\n"
    config += f"\trepositoryformatversion = {int(named != 'sha1')}\n"
    config += f"\tworktree = {_quoted(worktree)}\n"
    if alone:  # the usual files are ours; only the tree has other attributes
        usual = os.fsencode(select(AttributeFile(Path(), ""), [], DEFAULTS)[0])
        Path(folder, "usual").write_bytes(usual)
        Path(folder, "marks.usual").write_bytes(_merged_by(b"binary", usual))
        config += f"\tattributesFile = {_quoted(os.path.join(folder, 'usual'))}\n"
    if named != "sha1":
        config += f"[extensions]\n\tobjectFormat = {named}\n"
    _write(folder, "config", config)


def _take_files(twin: Repository, tree: str, git_dir: str, worktree: str) -> None:
    """Write the files of a tree that affect merges: attributes and definitions of resources.

    The folder `plain` gets the files without the kmerge driver, for merges by git alone. In the
    folder `marks` the driver for binary files replaces it.
    """
    plain, marks = (os.path.join(os.path.dirname(worktree), name) for name in ("plain", "marks"))
    files = _plain_files(git_dir, tree)
    wanted = {p: twin.blob(oid) for p, oid in files.items() if p.rpartition("/")[2] == ATTRIBUTES}
    places = [os.fsencode(v) for k, v in twin.settings() if k.lower() == "kmerge.crd"]
    places += b",".join(v for text in wanted.values() for v in _CRDS.findall(text)).split(b",")
    below = {os.path.normpath(os.fsdecode(place)).strip("/") for place in places if place}
    definitions = [p for p in files if any(f"{p}/".startswith(f"{place}/") for place in below)]
    wanted |= {path: twin.blob(files[path]) for path in definitions}
    for path, data in wanted.items():
        for top, driver in ((worktree, b"kmerge"), (plain, b"text"), (marks, b"binary")):
            target = Path(top, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_merged_by(driver, data))


def _plain_files(git_dir: str, tree: str) -> dict[str, str]:
    """Return the regular files of a tree, each with its id."""
    listed = git(f"--git-dir={git_dir}", "ls-tree", "-r", "-z", "--full-tree", tree)
    files = {}
    for line in listed.split("\0")[:-1]:
        about, _, path = line.partition("\t")
        mode, kind, oid = about.split()
        if kind == "blob" and mode != "120000" and _is_inside(path):
            files[path] = oid
    return files


def _merged_by(driver: bytes, data: bytes) -> bytes:
    """Return an attribute file in which another driver replaces the kmerge driver."""
    return re.sub(rb"(?<=[ \t])merge=kmerge(?=\s|$)", b"merge=" + driver, data)


def _is_inside(path: str) -> bool:
    """Return whether a path stays inside the folder; a handmade tree can hold any path."""
    return not path.startswith("/") and not {"..", ".git"} & {*path.lower().split("/")}


def _write(folder: str, name: str, text: str) -> None:
    Path(folder, name).write_bytes(os.fsencode(text))


def _quoted(path: str) -> str:
    """Quote a path for git's configuration."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _sweep() -> None:
    """Remove the scratch folders of runs that were killed."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and _is_left(entry):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_left(entry: os.DirEntry[str]) -> bool:
    about = entry.stat(follow_symlinks=False)
    is_ours = about.st_uid == os.getuid()
    is_old = time.time() - about.st_mtime > LEFTOVER_SECONDS
    return is_ours and is_old and entry.is_dir(follow_symlinks=False)
