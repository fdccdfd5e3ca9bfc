"""A git of one's own: no configuration, attribute or variable of this machine reaches it."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pygit2
import pytest
from forking import run_forked, starts_for_real
from json_schema import wrong_output
from whole_text import unread

from kmerge_git.cli.check_repository import BRANCHES, COMMITS, SERVICES

ROOT = Path(__file__).resolve().parents[2]
EPOCH = "1700000000 +0000"
PERSON = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", EPOCH))
}


@dataclass(frozen=True, slots=True)
class Done:
    """A process that has ended."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def said(self) -> str:
        """Everything that it printed, for assertions on messages."""
        return self.out + self.err


class Failed(AssertionError):
    """A command that had to work did not."""

    def __init__(self, done: Done, more: str = "") -> None:
        super().__init__(f"{' '.join(done.argv)} -> {done.code}\n{done.out}{done.err}{more}")


MERGING = ("merge", "rebase", "cherry-pick", "revert", "stash")


def refuse_unread(top: Path, done: Done) -> None:
    """Fail the test if a file was merged that no reader takes, though it takes all its versions."""
    for path, versions in _versions(top).items():
        file = top / path
        data = file.read_bytes() if file.is_file() and not file.is_symlink() else b""
        if data and data not in versions and b"\0" not in data:
            size = max((len(run) for run in re.findall(rb"^<{3,}(?= |$)", data, re.M)), default=0)
            why = unread(versions, data, clean=not size, path=path, size=size)
            if why:
                raise Failed(done, f"{path}: {why}")


def _versions(top: Path) -> dict[str, set[bytes]]:
    """The manifests of a repository whose merges kmerge makes, as they are in its commits."""
    config = top / ".git" / "config"
    if not config.is_file() or "driver.py" not in config.read_text(errors="replace"):
        return {}
    found: dict[str, set[bytes]] = {}
    try:
        repository = pygit2.Repository(str(top))
        heads = [repository.references[name].resolve().target for name in repository.references]
    except (pygit2.GitError, KeyError):  # it may have SHA-256 names, or be broken on purpose
        return {}
    seen: set[object] = set()
    while heads:
        commit = repository.get(heads.pop())
        if isinstance(commit, pygit2.Commit) and commit.id not in seen:
            seen.add(commit.id)
            heads += commit.parent_ids
            _add_blobs(commit.tree, "", found)
    return found


def _add_blobs(tree: pygit2.Tree, above: str, found: dict[str, set[bytes]]) -> None:
    for each in tree:
        path = f"{above}{each.name}"
        if isinstance(each, pygit2.Tree):
            _add_blobs(each, f"{path}/", found)
        elif isinstance(each, pygit2.Blob) and path.endswith((".yaml", ".yml", ".json")):
            found.setdefault(path, set()).add(each.data)


def refuse_internal_error(done: Done) -> None:
    """Fail the test; git's own merge follows an error of ours and may leave the expected files."""
    if "internal error" in done.said:
        raise Failed(done)


def refuse_other_form(done: Done) -> None:
    """Fail the test if a command printed JSON that its schema does not describe."""
    words = [*map(str, done.argv[3:])]
    wrong = wrong_output(words, done.out) if done.code >= 0 else []
    if wrong:
        raise Failed(done, "\n".join(wrong))


def live_in(env: dict[str, str], patched: pytest.MonkeyPatch) -> None:
    """Let this process, and all that it starts, have this environment and no other variable."""
    for name in [name for name in os.environ if name not in env]:
        patched.delenv(name)
    for name, value in env.items():
        patched.setenv(name, value)


@contextmanager
def living(root: Path, more: Mapping[str, str] | None = None) -> Iterator[World]:
    """A sealed world of its own, and for so long this process lives in it."""
    for name in ("home", "etc"):
        (root / name).mkdir()
    env = sealed_environment(root) | (more or {})
    with pytest.MonkeyPatch.context() as patched:
        live_in(env, patched)
        yield World(root, env)


def sealed_environment(root: Path) -> dict[str, str]:
    """The environment of the sealed world below `root`, nothing of git, Python or CI in it."""
    others = ("GIT_", "KMERGE", "XDG_", "PYTHON")
    of_a_service = {
        *SERVICES,
        *COMMITS,
        *BRANCHES,
    }  # CI may run the suite, but is not in its worlds
    keep = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(others) and name not in of_a_service
    }
    prefix = sys.pycache_prefix  # where `tests/run` has compiled the package
    return (
        keep
        | ({"PYTHONPYCACHEPREFIX": prefix} if prefix else {})
        | PERSON
        | {
            "HOME": str(root / "home"),
            "USERPROFILE": str(root / "home"),
            "XDG_CONFIG_HOME": str(root / "home" / ".config"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": str(root / "etc" / "gitconfig"),
            "GIT_CEILING_DIRECTORIES": str(root),
            "GIT_EDITOR": "false",
            "GIT_MERGE_AUTOEDIT": "no",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_DEFAULT_HASH": os.environ.get("GIT_DEFAULT_HASH", "sha1"),
            "LC_ALL": "C",
            "TZ": "UTC",
            "PYTHONPATH": str(ROOT),
        }
    )


def _done(ended: subprocess.CompletedProcess[bytes], check: bool, internal_error: bool) -> Done:
    """What a process came to; a failure raises if `check` is on, and so does an error of ours."""
    out, err = (part.decode("utf-8", "surrogateescape") for part in (ended.stdout, ended.stderr))
    done = Done(tuple(ended.args), ended.returncode, out, err)
    if check and done.code != 0:
        raise Failed(done)
    if not internal_error:
        refuse_internal_error(done)
    return done


@dataclass(frozen=True, slots=True)
class World:
    """A home directory, an environment, and room for repositories below `root`."""

    root: Path
    env: dict[str, str] = field(repr=False)

    @property
    def home(self) -> Path:
        return self.root / "home"

    def run(
        self,
        *argv: str | Path,
        cwd: Path | None = None,
        check: bool = True,
        stdin: str | bytes = "",
        env: dict[str, str] | None = None,
        timeout: float = 600,  # a guard against hanging, not a measure
        internal_error: bool = False,
    ) -> Done:
        """Run a program in the sealed environment; a failure raises unless `check` is off.

        A program that tells of an internal error raises unless `internal_error` is on.
        """
        ended = subprocess.run(
            [str(word) for word in argv],
            cwd=cwd or self.root,
            env=self.env | (env or {}),
            input=stdin if isinstance(stdin, bytes) else stdin.encode(),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        return _done(ended, check, internal_error)

    def git(self, *args: str | Path, cwd: Path | None = None, check: bool = True) -> Done:
        return self.run("git", *args, cwd=cwd, check=check)

    def kmerge(
        self,
        *args: str | Path,
        cwd: Path | None = None,
        check: bool = True,
        stdin: str = "",
        env: dict[str, str] | None = None,
    ) -> Done:
        """Run this tree's `kmerge` with the interpreter of the tests."""
        words = ("-m", "kmerge_git", *args)
        done = self.python(*words, cwd=cwd, check=check, stdin=stdin, env=env)
        refuse_other_form(done)
        return done

    def python(
        self,
        *words: str | Path,
        cwd: Path | None = None,
        check: bool = True,
        stdin: str = "",
        env: dict[str, str] | None = None,
        timeout: float = 600,
        internal_error: bool = False,
    ) -> Done:
        """Run a module (`-m`), code (`-c`) or script, in a forked process where that is the same."""
        argv = [sys.executable, *map(str, words)]
        place, given = cwd or self.root, self.env | (env or {})
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        ended = None
        if not starts_for_real(test):
            ended = run_forked(
                argv, cwd=str(place), env=given, stdin=stdin.encode(), timeout=timeout
            )
        if ended is not None:
            return _done(ended, check, internal_error)
        return self.run(
            *argv,
            cwd=cwd,
            check=check,
            stdin=stdin,
            env=env,
            timeout=timeout,
            internal_error=internal_error,
        )

    def init(self, name: str = "repo", *, bare: bool = False) -> Repo:
        """Make an empty repository whose branch is `main`."""
        path = self.root / name
        inside = path if bare else path / ".git"
        if inside.exists() or (self.home / ".gitconfig").exists():
            self.git("init", "-q", "-b", "main", *(["--bare"] if bare else []), path)
            return Repo(self, path)
        inside.mkdir(parents=True)
        for file, content in _empty_repository(self.env["GIT_DEFAULT_HASH"], bare).items():
            if content is None:
                (inside / file).mkdir()
            else:
                (inside / file).write_bytes(content)
        return Repo(self, path)


@functools.cache
def _empty_repository(names: str, bare: bool) -> dict[str, bytes | None]:
    """The folders (None) and files that `git init` makes, but for the examples of hooks."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        env = sealed_environment(root) | {"GIT_CEILING_DIRECTORIES": folder}
        env["GIT_DEFAULT_HASH"] = names
        words = ["git", "init", "-q", "-b", "main", *(["--bare"] if bare else []), folder]
        subprocess.run(words, env=env, check=True)
        top = root if bare else root / ".git"
        return {
            file.relative_to(top).as_posix(): file.read_bytes() if file.is_file() else None
            for file in sorted(top.rglob("*"))
            if file.suffix != ".sample"
        }


def _is_plain(name: str) -> bool:
    """Whether a name needs no quotes in a stream of git, and is not read by git itself."""
    return (
        name.isascii() and name.isprintable() and not set(name) & set(' "\\') and ".git" not in name
    )


# Settings under which the bytes of a commit are not those of the file, or somebody has a say in it.
_HAVE_A_SAY = re.compile(r"crlf|eol|filter|encod|hook|sparse|sign|exclude|format|text\b", re.I)


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository of the sealed world; file names are relative to its top."""

    world: World
    path: Path

    def git(
        self,
        *args: str | Path,
        check: bool = True,
        stdin: str = "",
        env: dict[str, str] | None = None,
    ) -> Done:
        done = self.world.run("git", *args, cwd=self.path, check=check, stdin=stdin, env=env)
        if args and args[0] in MERGING:
            refuse_unread(self.path, done)
        return done

    def kmerge(
        self,
        *args: str | Path,
        check: bool = True,
        stdin: str = "",
        env: dict[str, str] | None = None,
    ) -> Done:
        done = self.world.kmerge(*args, cwd=self.path, check=check, stdin=stdin, env=env)
        if args and args[0] in ("merge", "solve", "resolve"):
            refuse_unread(self.path, done)
        return done

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file byte for byte; its directories are made."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def bytes(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def text(self, name: str) -> str:
        return self.bytes(name).decode()

    def commit(self, message: str, files: dict[str, str | bytes] | None = None) -> str:
        """Write the files, commit everything that changed, and give the commit's id."""
        for name, text in (files or {}).items():
            self.write(name, text)
        self.git("add", "-A")
        self.git("-c", "maintenance.auto=false", "commit", "-q", "--allow-empty", "-m", message)
        return self.head()

    def digits(self) -> int:
        """How long the ids of objects are."""
        return len(self.git("hash-object", "-t", "tree", "--stdin").out.strip())

    def head(self, revision: str = "HEAD") -> str:
        """The id of a commit; that of HEAD is read from its file, where there is one."""
        ref = self._checked_out() if revision == "HEAD" else ""
        file = self.path / ".git" / ref
        if ref and file.is_file():
            return file.read_text().strip()
        return self.git("rev-parse", revision).out.strip()

    def _checked_out(self) -> str:
        """The ref that HEAD names in its file, such as `refs/heads/main`, or nothing."""
        file = self.path / ".git" / "HEAD"
        text = file.read_text() if file.is_file() else ""
        return text.removeprefix("ref: ").strip() if text.startswith("ref: ") else ""

    def show(self, revision: str) -> str:
        """The text of an object, such as `HEAD:app.yaml` or `:2:app.yaml`."""
        return self.git("cat-file", "-p", revision).out

    def show_all(self, revisions: Sequence[str]) -> list[str]:
        """The texts of objects, by one start of git."""
        asked = "".join(f"{revision}\n" for revision in revisions)
        answer = self.git("cat-file", "--batch", stdin=asked).out.encode(errors="surrogateescape")
        texts = []
        for revision in revisions:
            head, _, answer = answer.partition(b"\n")
            assert head.split()[1:2] == [b"blob"], f"{revision}: {head!r}"
            size = int(head.split()[2])
            texts.append(answer[:size].decode("utf-8", "surrogateescape"))
            answer = answer[size + 1 :]
        return texts

    def branch(self, name: str, start: str = "HEAD") -> None:
        """Make a branch and switch to it."""
        self.git("checkout", "-q", "-b", name, start)

    def switch(self, name: str) -> None:
        self.git("checkout", "-q", name)

    def fork(
        self,
        base: dict[str, str | bytes],
        ours: dict[str, str | bytes],
        theirs: dict[str, str | bytes],
    ) -> None:
        """The current branch (checked out, with ours) and `side` (theirs) from a common base."""
        if self._is_untouched() and all(map(_is_plain, (*base, *ours, *theirs))):
            self._import_fork(base, ours, theirs)
            return
        here = self.git("symbolic-ref", "--short", "HEAD").out.strip()
        self.commit("base", base)
        self.branch("side")
        self.commit("theirs", theirs)
        self.switch(here)
        self.commit("ours", ours)

    def _is_untouched(self) -> bool:
        """Whether there is nothing but the folder of git, and no setting that would be asked."""
        inside = self.path / ".git"
        files = (inside / "config", inside / "info" / "attributes", self.world.home / ".gitconfig")
        settings = "".join(file.read_text() for file in files if file.exists())
        plain = "repositoryformatversion = 0"
        return (
            os.listdir(self.path) == [".git"]
            and plain in settings
            and not _HAVE_A_SAY.search(settings.replace(plain, ""))
            and not any((inside / "hooks").glob("*"))
            and not any((inside / "refs").rglob("*/*"))
            and not (self.world.home / ".config" / "git").exists()
            and not (inside / "packed-refs").exists()
            and self._checked_out() != ""
        )

    def _import_fork(self, *sides: dict[str, str | bytes]) -> None:
        """Make the same three commits by one call."""
        env = self.world.env
        who = {
            role: "{} <{}> {}".format(
                *(env[f"GIT_{role}_{of}"] for of in ("NAME", "EMAIL", "DATE"))
            )
            for role in ("AUTHOR", "COMMITTER")
        }
        stream = b""
        here = self._checked_out()
        for message, ref, files in (
            ("base", here, sides[0]),
            ("theirs", "refs/heads/side", sides[2]),
            ("ours", here, sides[1]),
        ):
            mark, start = ("mark :1\n", "") if message == "base" else ("", "from :1\n")
            stream += (
                f"commit {ref}\n{mark}author {who['AUTHOR']}\ncommitter {who['COMMITTER']}\n"
                f"data {len(message) + 1}\n{message}\n\n{start}"
            ).encode()
            for name, text in files.items():
                content = text if isinstance(text, bytes) else text.encode()
                stream += (
                    f"M 100644 inline {name}\ndata {len(content)}\n".encode() + content + b"\n"
                )
        self.world.run("git", "fast-import", "--quiet", cwd=self.path, stdin=stream + b"done\n")
        self.git("read-tree", "--reset", "-u", "HEAD")

    def merge(self, *args: str, check: bool = False) -> Done:
        """`git merge`, of `side` unless told otherwise; conflicts do not raise."""
        named = any(not arg.startswith("-") for arg in args)
        return self.git("merge", *args, *([] if named else ["side"]), check=check)

    def config(self, key: str, *scope: str) -> list[str]:
        """All values of a key, in one scope if one is given."""
        return self.git("config", *scope, "--get-all", key, check=False).lines

    def attribute(self, path: str, name: str = "merge") -> str:
        """The value that git sees for an attribute of a path."""
        return self.git("check-attr", "-z", name, "--", path).out.split("\0")[2]

    def unmerged(self) -> list[str]:
        """The paths that are in conflict."""
        return sorted(
            set(self.git("diff", "--name-only", "--diff-filter=U", "-z").out.split("\0")) - {""}
        )


# Neighbouring lines: git's line merge sees a conflict, a merge by field sees none.
BASE = "a: 1\nb: 1\n"
OURS = "a: 2\nb: 1\n"
THEIRS = "a: 1\nb: 2\n"
MERGED = "a: 2\nb: 2\n"


@dataclass(frozen=True, slots=True)
class Driven(Repo):
    """A repository whose manifests go to the driver; its calls are written down."""

    @property
    def log(self) -> Path:
        return self.world.root / "calls"

    def drive(self, line: str) -> None:
        """Register a driver line, with a note of every call before it."""
        noted = f'printf "%%s %%s\\n" %L %P >>"{self.log}"; '
        self.git("config", "merge.kmerge.driver", noted + line)

    def calls(self) -> list[str]:
        """The paths that the driver was called for, in order."""
        return [path for _, path in self.sized_calls()]

    def sized_calls(self) -> list[tuple[int, str]]:
        """Marker size and path of every call."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(int(size), path) for size, _, path in (line.partition(" ") for line in lines)]

    def fork_one(self, name: str = "x.yaml") -> None:
        """A fork whose sides change neighbouring lines of one file."""
        self.fork({name: BASE}, {name: OURS}, {name: THEIRS})
