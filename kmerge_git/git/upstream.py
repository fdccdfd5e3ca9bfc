"""Fetch upstream repositories into a private cache, without running code of these repositories.

Every upstream repository has a bare repository of its own in the cache, which belongs to no work
tree: no upstream hook, filter, attribute or submodule can act in the cache, and files are read as
raw blobs. The user's own configuration stays in force (credentials, `url.*.insteadOf`, proxies),
but git never asks the user a question.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from kmerge_git.errors import KmergeError
from kmerge_git.git.merge_sides import SUBMODULE
from kmerge_git.git.run_git import GitAnswer, ask_git, environment
from kmerge_git.git.sides import HEX

PROTOCOLS = ("https", "ssh", "file")
# settings of a user could run or fetch more than the wanted objects
SEALED = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false", "-c", "fetch.recurseSubmodules=no"),
    *("-c", "protocol.allow=never", "-c", "fetch.writeCommitGraph=false"),
    *(word for name in PROTOCOLS for word in ("-c", f"protocol.{name}.allow=always")),
    *("-c", "credential.interactive=false", "-c", "hook.reference-transaction.enabled=false"),
)  # fmt: skip
KEPT = "refs/kmerge/commits/"  # the commits that the cache has with all their objects
FRESH = "refs/kmerge/fresh"


class BrokenCache(KmergeError):
    """Report a cached repository that lacks objects; the cached repository can be removed."""


@dataclass(frozen=True, slots=True)
class TreeFile:
    """Hold a file of a commit: its mode, the id of its blob, and its path below the package."""

    path: str
    mode: int
    oid: str


@dataclass(frozen=True, slots=True)
class Named:
    """Hold a full ref name of the upstream repository, and the commit that the name means."""

    name: str
    commit: str


def is_full_id(text: str) -> bool:
    """Return whether a text has the form of a full commit id."""
    return len(text) in (40, 64) and HEX.issuperset(text)


class Upstream:
    """Hold one upstream repository, and the cached repository that keeps its commits."""

    def __init__(self, url: str, folder: Path, protocols: tuple[str, ...] = PROTOCOLS) -> None:
        self.url = url
        self._folder = folder
        self._env = alone(protocols)

    def __repr__(self) -> str:
        return f"Upstream({self.url!r})"

    def fetch(self, refs: tuple[str, ...]) -> Named:
        """Find the first of the given refs that exists upstream, and fetch its commit."""
        with self._locked():
            self._prepare()
            try:
                return self._fetch(refs)
            except KmergeError:
                if self._ask("fsck", "--connectivity-only", "--no-dangling").code:
                    raise BrokenCache(
                        "the cache is damaged",
                        path=str(self._folder),
                        hint="remove it and try again",
                    ) from None
                raise

    def _fetch(self, refs: tuple[str, ...]) -> Named:
        wanted = refs[-1]
        if is_full_id(wanted):
            self._suit(wanted)
            return Named(wanted, self._bring(wanted))
        name, oid = self._full_name(refs)
        self._suit(oid)
        if name and self.has(oid):
            return Named(name, oid)
        if not name:
            known = self._commit_of(wanted) if len(wanted) >= 7 and HEX.issuperset(wanted) else ""
            if known:
                return Named(known, known)
            if wanted == "HEAD":
                raise KmergeError(
                    f"{self.url} has no HEAD",
                    hint="give --ref, or check that the repository is not empty",
                )
            why = f"there is no branch, tag or commit {wanted} in {self.url}"
            raise KmergeError(why, hint="give a commit by its full id")
        self._git("fetch", *_QUIETLY, "--depth=1", "--", self.url, f"+{name}:{FRESH}")
        commit = self._commit_of(FRESH)
        if not commit:
            raise KmergeError(f"{name} of {self.url} is not a commit", hint="give another --ref")
        self._git("update-ref", KEPT + commit, commit)
        return Named(name, commit)

    def _commit_of(self, name: str) -> str:
        """Return the commit that a name means in the cache, or '' if the name is unknown."""
        return self._ask("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").line

    def has(self, commit: str) -> bool:
        """Return whether the cache has a commit, so that no connection is needed."""
        shown = ("show-ref", "--verify", "--quiet", KEPT + commit)
        return self._folder.is_dir() and self._ask(*shown).code == 0

    def renew(self) -> None:
        """Remove the cached repository, so that the next fetch makes a new one."""
        with self._locked():
            shutil.rmtree(self._folder, ignore_errors=True)

    def files(self, commit: str, path: str) -> Iterator[tuple[TreeFile, bytes]]:
        """Yield each file below a path of a cached commit with its bytes; a submodule has none."""
        answer = self._ask("ls-tree", "-r", "-z", "--full-tree", f"{commit}:{path}")
        if answer.code:
            if self._ask("cat-file", "-t", f"{commit}^{{tree}}").line != "tree":
                raise BrokenCache(
                    f"commit {commit} is missing from the cache",
                    path=str(self._folder),
                    hint="remove the cache and try again",
                )
            raise KmergeError(
                f"there is no directory {path} in commit {commit[:12]}",
                hint="give another --path or --ref",
            )
        files = [_tree_file(line) for line in answer.out.split("\0")[:-1]]
        blobs = self._contents([file.oid for file in files if file.mode != SUBMODULE])
        for file in files:
            yield file, b"" if file.mode == SUBMODULE else next(blobs)

    def _contents(self, oids: list[str]) -> Iterator[bytes]:
        """Yield the raw bytes of blobs, without any filter, conversion or attribute."""
        output = BytesIO(self._ask("cat-file", "--batch", stdin="\n".join([*oids, ""])).data)
        for oid in oids:
            words = output.readline().split()
            size = int(words[2]) if len(words) == 3 and words[1] == b"blob" else -1
            data = output.read(max(size, 0))
            if len(data) != size:
                raise BrokenCache(
                    f"object {oid} is missing from the cache",
                    path=str(self._folder),
                    hint="remove the cache and try again",
                )
            output.readline()
            yield data

    def tags(self) -> dict[str, str]:
        """Ask for the tags of the upstream repository, and return the commit of each tag."""
        with self._locked():
            self._prepare()
            refs = self._refs("--tags", "--", self.url)
        # the commit of an annotated tag comes after the tag, and replaces it
        return {ref.removeprefix("refs/tags/").removesuffix("^{}"): refs[ref] for ref in refs}

    def _refs(self, *words: str) -> dict[str, str]:
        """Ask for the refs of the upstream repository, and return the id of each ref."""
        lines = self._git("ls-remote", *words).out.splitlines()
        return {name: oid for oid, _, name in (line.partition("\t") for line in lines)}

    def _full_name(self, refs: tuple[str, ...]) -> tuple[str, str]:
        """Find the first of the refs that exists upstream; return its full name and its commit.

        Tags come before branches, as in git.
        """
        wanted = [name for ref in refs for name in _spellings(ref)]
        there = self._refs("--", self.url, *wanted, *(f"{name}^{{}}" for name in wanted))
        name = next((name for name in wanted if name in there), "")
        return name, there.get(f"{name}^{{}}", there.get(name, ""))

    def _bring(self, commit: str) -> str:
        if self.has(commit):
            return commit
        target = f"+{commit}:{KEPT}{commit}"
        alone = self._ask("fetch", *_QUIETLY, "--depth=1", "--", self.url, target)
        if alone.code:  # an old server gives no commit by its id: then fetch all branches and tags
            everything = ("+refs/heads/*:refs/kmerge/heads/*", "+refs/tags/*:refs/kmerge/tags/*")
            whole = ("--unshallow",) if (self._folder / "shallow").exists() else ()
            self._git("fetch", *_QUIETLY, *whole, "--", self.url, *everything)
            if not self._commit_of(commit):
                hint = "record another commit with `kmerge vendor add --adopt`"
                raise KmergeError(f"commit {commit[:12]} is not in {self.url}", hint=hint)
            self._git("update-ref", KEPT + commit, commit)
        if self._ask("cat-file", "-t", commit).line != "commit":
            raise KmergeError(
                f"{commit[:12]} of {self.url} is not a commit", hint="give another --ref"
            )
        return commit

    def _prepare(self) -> None:
        if self._folder.is_dir():
            if self._ask("rev-parse", "--is-bare-repository").line == "true":
                return
            shutil.rmtree(self._folder)
        self._folder.unlink(missing_ok=True)
        self._make("sha1")

    def _suit(self, oid: str) -> None:
        """Make sure that the cached repository uses commit ids of this length.

        Git cannot fetch from a repository with ids of another length.
        """
        kind = "sha256" if len(oid) == 64 else "sha1"
        if oid and self._ask("rev-parse", "--show-object-format").line != kind:
            shutil.rmtree(self._folder)
            self._make(kind)

    def _make(self, kind: str) -> None:
        self._folder.mkdir(mode=0o700)
        bare = ("--bare", "--template=", f"--object-format={kind}")
        self._git("init", "--quiet", *bare, str(self._folder))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the cached repository for fetches of this process.

        The system frees the lock of a killed process.
        """
        try:
            os.makedirs(self._folder.parent, mode=0o700, exist_ok=True)
            with open(f"{self._folder}.lock", "wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            path = str(error.filename or self._folder)
            hint = "check the permissions, or set XDG_CACHE_HOME"
            raise KmergeError(
                f"kmerge cannot write its cache: {error.strerror}", path=path, hint=hint
            ) from None

    def _git(self, *words: str) -> GitAnswer:
        answer = self._ask(*words)
        if answer.code:
            raise KmergeError(f"`git {words[0]}` failed: {_complaint(answer)}")
        return answer

    def _ask(self, *words: str, stdin: str = "") -> GitAnswer:
        argv = (*SEALED, f"--git-dir={self._folder}", *words)
        return ask_git(*argv, cwd=self._folder, stdin=stdin, env=self._env)


_QUIETLY = (
    *("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"),
    "--no-auto-maintenance",
)


def _tree_file(line: str) -> TreeFile:
    about, _, name = line.partition("\t")
    mode, _, oid = about.split()
    return TreeFile(name, int(mode, 8), oid)


def _spellings(ref: str) -> tuple[str, ...]:
    if ref == "HEAD" or ref.startswith("refs/"):
        return (ref,)
    return f"refs/tags/{ref}", f"refs/heads/{ref}"


def alone(protocols: tuple[str, ...]) -> dict[str, str]:
    """Return an environment that names no repository, and in which git asks no questions."""
    env = environment(any_repository=True)
    allowed = env.get("GIT_ALLOW_PROTOCOL")
    narrowed = [p for p in protocols if allowed is None or p in allowed.split(":")]
    without_questions = {
        "GIT_ALLOW_PROTOCOL": ":".join(narrowed),
        "GIT_ASKPASS": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GCM_INTERACTIVE": "never",
        "SSH_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
    }
    batch_mode = _batch_mode(env) if "ssh" in narrowed else {}
    return env | without_questions | _without_hooks(env) | batch_mode


def _without_hooks(env: dict[str, str]) -> dict[str, str]:
    """Return the variables that switch off each hook of the user's configuration.

    Only since git 2.55 one setting does it for an event, whatever the hooks are called.
    """
    asked = ("config", "--null", "--name-only", "--get-regexp", r"^hook\..*\.event$")
    keys = ask_git(*asked, cwd=Path("/"), env=env).out.split("\0")[:-1]
    off = {"GIT_CONFIG_COUNT": str(len(keys))}
    for number, key in enumerate(keys):
        off[f"GIT_CONFIG_KEY_{number}"] = key.removesuffix("event") + "enabled"
        off[f"GIT_CONFIG_VALUE_{number}"] = "false"
    return off


def _batch_mode(env: dict[str, str]) -> dict[str, str]:
    """Return the variable that keeps ssh from asking, or {} if the user has set an ssh command."""
    own = env.get("GIT_SSH_COMMAND") or env.get("GIT_SSH")
    if own or ask_git("config", "--get", "core.sshCommand", cwd=Path("/"), env=env).line:
        return {}
    return {"GIT_SSH_COMMAND": "ssh -o BatchMode=yes"}


def _complaint(answer: GitAnswer) -> str:
    """Return git's error message: the line that begins with `fatal:` or `error:`."""
    lines = [line for line in answer.err.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith(("fatal: ", "error: "))]
    if not own or "Could not read from remote" in own[0]:
        return (lines or [f"exit code {answer.code}"])[0]  # ssh has printed the cause
    return own[0].partition(": ")[2]
