"""Every command over a repository in which every text of others would drive a terminal.

A command, a format or an action of a command without a row here turns the first test red.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from world import Driven, World, live_in, living, sealed_environment

from kmerge_git.cli.main import COMMANDS, main, module_of
from kmerge_git.git.driver_lines import NAME, driver_line
from kmerge_git.visible import visible

pytestmark = pytest.mark.costly  # its tests share what costs

EVIL = "\x1b[2J\u202e"  # what drives a terminal, and what turns the direction of a text
MORE = "\a\x7f\x9b\u2028\u200b"
FILE = f"a{EVIL}{MORE}.yaml"
RAW = f"raw{EVIL}.yaml"
CRD = f"crd{EVIL}.yaml"
TEMPLATE = f"templates/t{EVIL}.yaml"
SUBJECT = f"sub{EVIL}{MORE}"
BRANCH = "si\u202e\x9bde"
CLEAN = "cle\u202ean"
TAG = "v1.0.0\u202e"
COLOURS = [f"\x1b[{n}m" for n in (0, 1, 2, 31, 32, 33, 34)]
LAST = "kubectl.kubernetes.io/last-applied-configuration"

# These print lines of manifests, as they are, if nobody reads them at a terminal; and these print
# values of manifests as new text.
PRINTS_LINES = {"merge", "merge-file", "merge2", "merge3", "vendor", "diff"}
PRINTS_VALUES = {"patch", "make-patch", "apply", "last-applied"}
SHOWING = ("--json", "--explain", "--color", "--format", "--html", "--summary", "--diff", "--stat")
SHOWING += ("--show", "--blame", "--list", "--show-patch", "--write-tree", "--all", "--full")
SHOWING += ("--picks", "--rebase", "--external", "--extract", "--verbose", "--dry-run")

WRITING = {"install", "uninstall", "merge", "solve", "resolve", "refresh", "vendor", "merge2"}
GITS_OWN = {"merge": (128,)}  # exit codes
C = ("--color", "always")
ONE, TWO, ALSO = "p1.yaml", "p2.yaml", "p3.yaml"  # the versions of a manifest, as files
# state of the repository, and what is run there
VERSIONS = ("v1", "v9", "people\u202e", "else\u202e")  # that no working tree has by now
ROWS: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "install": [("", ("--pattern", f"x{EVIL}*.yaml", "--dry-run")), ("", ("--with-json", "--diff", "--verbose")),
                ("", ("--shared", "--on-conflict", "skip", "--hooks", "--mergetool"))],
    "uninstall": [("", ()), ("", ("--shared", "--dry-run"))],
    "status": [("", C), ("", ("--json",)), ("", (FILE, *C)), ("", (FILE, "--json")),
               ("", ("--deep", *C)), ("", ("--deep", "--json")), ("torn", (EVIL,))],
    "merge": [("", (BRANCH,)), ("", (BRANCH, "--json")), ("", (CLEAN, "--stat")),
              ("", (CLEAN, "--log=9", "--verbose")), ("", (EVIL,)), ("torn", (CLEAN,)),
              ("", (ONE, TWO, ALSO, "--explain")), ("", (BRANCH, CLEAN)), ("", ("-m", SUBJECT, CLEAN))],
    "completion": [("", ("bash",)), ("", ("zsh",)), ("", ("fish",)), ("", (EVIL,))],
    "preview": [("", (BRANCH, "--format", "text", "--format", f"markdown=p{EVIL}")),
                *(("", (BRANCH, "--format", name)) for name in ("json", "markdown", "github", "sarif")),
                ("", (BRANCH, *C)), ("", (BRANCH, "--json")), ("", (BRANCH, "--rebase")),
                ("", (CLEAN, "--write-tree")), ("", (EVIL,)), ("", ("HEAD", "--into", BRANCH))],
    "solve": [("torn", ()), ("torn", ("--dry-run",)), ("torn", ("--json",)), ("torn", (EVIL,)),
              ("torn", ("--favor", "ours", *C))],
    "resolve": [("torn", ("--list",)), ("torn", ("--dry-run",)), ("torn", ("--auto",)), ("torn", ("--list", "--json", "--blame")),
                ("torn", ("--list", "--blame")), ("torn", ("--take", "theirs")),
                ("torn", ("--take", EVIL)), ("torn", ("--at", EVIL, "--take", "ours")),
                ("torn", ("--set", f"{EVIL}={EVIL}")), ("torn", ("--undo", FILE))],
    "explain": [("torn", C), ("torn", ("--all", *C)), ("torn", ("--json", "--all")),
                ("", ("past", "--all", *C)), ("", ("past", "--json")), ("", (EVIL,))],
    "refresh": [("", ("--with", CLEAN, BRANCH, *C)), ("", ("--with", "main", CLEAN, BRANCH)),
                ("", ("--with", CLEAN, "--branches", "*", "--json", "--dry-run")),
                *(("", ("--with", CLEAN, BRANCH, "--dry-run", "--format", name)) for name in ("text", "markdown", "json")),
                ("", ("--with", EVIL, EVIL)), ("", ("--with", "main", "--branches", EVIL)),
                ("", ("--with", "main", CLEAN, "--push", EVIL)),
                ("", ("--with", "main", CLEAN, "--committer", f"{EVIL} <a@b>"))],
    "generate": [("torn", (EVIL, "--yes")), ("", ("--restore",))],
    "replay": [("", ("--picks", *C)), ("", ("--json",)), ("", ("--html", f"r{EVIL}.html")),
               ("", ("--show", "1", *C)), ("", ("--show", "1", "--extract", f"d{EVIL}")),
               ("", (EVIL,)), ("", ("--policy", "* ** theirs", "--picks", *C)),
               ("", ("--policy", f"{EVIL} {EVIL} {EVIL}")), ("", ("--policy", EVIL)),
               ("", ("--policy", "* ** ours", "--json"))],
    "diff": [("", (BRANCH, "HEAD", *C)), ("", (BRANCH, "HEAD", "--json", "--full")),
             ("", (BRANCH, "HEAD", "--stat")), ("", (ONE, TWO, "--full", *C)), ("torn", ()),
             ("", ("--external", FILE, ONE, "0" * 40, "100644", TWO, "1" * 40, "100644", *C)),
             ("", ("--external", FILE, ONE, "0" * 40, "100644", TWO, "1" * 40, "100644")),
             ("", (EVIL, FILE))],
    "check": [("", ("--select", "all", *C)), ("", ("--select", "all", "--format", "json")),
              ("", ("--select", "all", "--format", "github")), ("", ("--format", "text", FILE)),
              ("", ("--select", "all", "--format", "sarif", "--as", "patch", FILE)),
              ("", ("--dry-run", "--as", "patch", FILE, *C)), ("", ("--fix", "--as", "patch", FILE)), ("", ("--json", FILE)),
              ("", ("--explain", EVIL)), ("", ("--list",)), ("torn", ("--merge", "--select", "all")),
              ("", ("--merge-of", "past", *C)), ("", ("--staged", "-q")), ("", ("--select", EVIL)),
              ("", ("--installed",)), ("", ("--target", FILE, "--as", "patch", ONE))],
    "merge-file": [("", (ONE, TWO, ALSO)), ("", (ONE, TWO, ALSO, "--explain", "-o", f"out{EVIL}")),
                   ("", (EVIL, ONE, TWO))],
    "merge2": [("", ("--src", ONE, "--dest", TWO, "--explain", "--summary")),
               ("", ("--src", "d1", "--dest", "d2", "--dry-run", "--summary", "--explain")),
               ("", ("--src", "d1", "--dest", "d2", "--in-place", "--json"))],
    "merge3": [("", ("-O", ONE, "-U", TWO, "-D", ALSO, "--explain", "--summary")),
               ("", ("-O", "d1", "-U", "d2", "-D", "d3", "--dry-run", "--json")),
               ("", ("-O", "d1", "-U", "d2", "-D", "d3", "--rules", "git", "-o", f"o{EVIL}"))],
    "mergetool": [("", (ONE, TWO, ALSO, f"out{EVIL}")), ("", (RAW, RAW, ONE, f"out{EVIL}"))],
    "vendor": [("", ("add", "../up", f"v{EVIL}", "--ref", EVIL)), ("", ("status",)),
               ("", ("add", "../up", "v2", "--json")), ("", ("status", "--fetch", "--json")),
               ("", ("update", "vendor", "--ref", "main", "--dry-run")),
               ("", ("update", "vendor", "--ref", "main", "--json")), ("", ("update", "--all")),
               ("", ("diff", "vendor")), ("", ("diff", "vendor", "--json")), ("", ("list",)),
               ("", ("list", "--json")), ("", ("add", f"https://{EVIL}", "v3")),
               ("", ("add", "../up", "v4", "--path", EVIL, "--accept-source"))],
    "patch": [("", (ONE, "-p", TWO, "--type", "merge")), ("", (ONE, "-p", TWO, "--dry-run", *C)),
              ("", (ONE, "-p", ALSO, "-o", "json")), ("", (ONE, "-p", f'{{"{EVIL}": 1}}')),
              ("", (ONE, "-p", TWO, "--object", EVIL)), ("", (RAW, "-p", TWO)), ("", (ONE, "-p", "bad"))],
    "make-patch": [("", (ONE, TWO)), ("", (ONE, TWO, "--live", ALSO, "--no-overwrite")), ("", (ONE, RAW))],
    "apply": [("", (ONE, "--live", TWO, "--explain", "--dry-run", *C)), ("", (ONE, "-o", "json")), ("", (ONE, "--live", TWO, "--explain", "--all")),
              ("", (ONE, "--live", TWO, "--show-patch")), ("", (ONE, "--live", TWO, "--no-overwrite")),
              ("", ("bad", "--live", ONE, "--namespace", EVIL)), ("", (ONE, "--live", RAW))],
    "last-applied": [("", ("view", ONE)), ("", ("view", ONE, "-o", "json")), ("", ("edit", ONE)),
                     ("", ("set", ONE, "--config", TWO, "--create-annotation", "--dry-run", *C))],
}  # fmt: skip


def test_every_command_and_format_has_its_row() -> None:
    missing = [name for name in COMMANDS if not ROWS.get(name)]
    for name in COMMANDS:
        words = {word for _, row in ROWS.get(name, []) for word in row}
        parser = argparse.ArgumentParser()
        module_of(name).add_arguments(parser)
        missing += [f"{name} {way}" for way in ways(parser) if way.split()[-1] not in words]
    assert missing == []


def ways(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The options of a command that change how it tells something, its formats, its actions."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield name
                yield from (way for way in ways(below))
        old = action.help == argparse.SUPPRESS
        shown = [] if old else [option for option in action.option_strings if option in SHOWING]
        yield from shown[:1]
        if "--format" in shown:
            yield from (f"--format {choice}" for choice in action.choices or ())


def manifest(value: str, more: str = "") -> str:
    shown = f"x{EVIL}".replace("\x1b", "\\x1b")
    config = f'{{"metadata":{{"name":"we\u202eb"}},"gone{shown}":1}}'.replace("\\x1b", "\\u001b")
    return (
        f"# note \u202e\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: we\u202eb\n"
        f"  annotations:\n    {LAST}: '{config}'\n    a\u202e: b\n"
        f'spec:\n  "k\\x1b[2J\\x85": {value}\n  other: "\u202e\u200b{value}"\n  far: 1\n'
        f'  template: {{spec: {{containers: [{{name: "c\\x1b\u202e", $path: x}}]}}}}\n{more}'
    )


DEFINITION = (
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n"
    "  name: x\u202e\nspec:\n  group: 'g\u202e'\n  names: {kind: 'K\u202e'}\n  versions: 1\n"
)
KUSTOMIZATION = f'resources: ["n{EVIL}.yaml", "m\u202e"]\nimages: [{{name: "i\u202e"}}]\n'.replace(
    "\x1b", "\\x1b"
)
TEMPLATED = "{{- if .Values.x }}\na: %s\u202e\n{{- end }}\nb{{ .\u202e }}: %s\n"


def files(value: str, more: str = "") -> dict[str, str | bytes]:
    return {
        FILE: manifest(value, more),
        RAW: f"a: {EVIL}{value}\n",
        CRD: DEFINITION + f"  scope: '{value}\u202e'\n",
        "kustomization.yaml": KUSTOMIZATION + f"namePrefix: '{value}\u202e'\n",
        TEMPLATE: TEMPLATED % (value, value),
    }


AUTHORS = {f"GIT_{who}_NAME": f"Ad{EVIL}a" for who in ("AUTHOR", "COMMITTER")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the repository, its upstream, and the same in the middle of a merge."""
    root = tmp_path_factory.mktemp("evil")
    with living(root, AUTHORS) as world:
        _make(world)
    return root


def _make(world: World) -> None:
    up = world.init("up")
    up.commit(SUBJECT, files("v1"))
    up.git("tag", TAG)
    up.git("tag", f"v2.0.0{chr(0x202E)}")
    repo = world.init()
    driven = Driven(world, repo.path)
    driven.commit(SUBJECT, files("v0"))
    _a_past_merge(driven)
    driven.commit(
        SUBJECT, files("v1") | {ONE: manifest("1"), TWO: manifest("2"), ALSO: manifest("3")}
    )
    patch = "kind: Deployment\nmetadata: {name: \"we\u202eb\"}\nspec: {$patch: 'wro\u202eng'}\n"
    folders = {f"d{n}/{FILE}": manifest(str(n)) for n in (1, 2, 3)}
    driven.commit(SUBJECT, {"bad": patch, ".gitattributes": ATTRIBUTES} | folders)
    done = driven.kmerge("vendor", "add", "../up", "vendor", "--ref", TAG, check=False)
    if done.code:
        driven.kmerge("vendor", "add", "../up", "vendor")
    driven.write(f"vendor/{FILE}", manifest("mine"))
    driven.commit(SUBJECT)
    driven.branch(BRANCH)
    driven.commit(SUBJECT, files("v3", "  theirs: 1\n"))
    driven.branch(CLEAN, "main")
    # another line of its own beside ours: git sees a conflict, fields do not
    driven.commit(SUBJECT, {FILE: manifest("v1", "  clean: 1\n")})
    driven.switch("main")
    driven.commit(SUBJECT, files("v2", "  ours: 1\n"))
    up.commit(SUBJECT, files("v9"))
    driven.git("config", "merge.kmerge.name", NAME)
    driven.git("config", "merge.kmerge.driver", driver_line())
    driven.git("config", f"kmerge.\u202eodd{EVIL}".replace("\x1b", "") + ".x", EVIL)
    for key in ("kmerge.policy", "kmerge.crd", "kmerge.check.ignore", "kmerge.conflictStyle"):
        driven.git("config", "--add", key, f"x{EVIL}=y{EVIL}")
    driven.git("config", "remote.re\u202emote.url", f"../no{EVIL}")
    driven.write(".git/info/attributes", "*.yaml merge=kmerge\n")
    shutil.copytree(repo.path, world.root / "torn", symlinks=True)
    torn = Driven(world, world.root / "torn")
    torn.git("merge", BRANCH, check=False)


ATTRIBUTES = (
    "*.yaml kmerge-rules=\u202eodd kmerge-favor=\u202e kmerge-policy=\u202e=x kmerge-check=\u202e\n"
)


def _a_past_merge(repo: Driven) -> None:
    """Two that people decided otherwise than anybody would, one of them without a need."""
    repo.branch("past-side")
    repo.commit(SUBJECT, files("v5"))
    repo.switch("main")
    repo.commit(SUBJECT, files("v6"))
    repo.git("merge", "--no-commit", "past-side", check=False)
    repo.commit(SUBJECT, files("people\u202e"))
    repo.git("tag", "past")
    repo.branch("past-clean")
    repo.commit(SUBJECT, {FILE: manifest("people\u202e", "  theirs: 1\n")})
    repo.switch("main")
    repo.commit(SUBJECT, {FILE: manifest("people\u202e", "  ours: 1\n")})
    repo.git("merge", "--no-commit", "past-clean", check=False)
    repo.commit(SUBJECT, {FILE: manifest("else\u202e")})


class Stream(io.TextIOWrapper):
    """A standard stream that keeps what is written; it may be a terminal."""

    def __init__(self, tty: bool) -> None:
        file = tempfile.TemporaryFile("w+b")  # noqa: SIM115 (closed with this)
        super().__init__(file, "utf-8", errors="surrogateescape", write_through=True)
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty

    @property
    def text(self) -> str:
        self.flush()
        self.buffer.seek(0)
        return self.buffer.read().decode("utf-8", "surrogateescape")


def hidden(text: str, known: frozenset[str] = frozenset(), *, painted: bool = False) -> list[str]:
    """The lines that would do something to a terminal; those of manifests are known."""
    for code in COLOURS if painted else ():
        text = text.replace(code, "")
    odd = [line for line in text.split("\n") if visible(line) != line]
    return [line for line in odd if not {line, line[1:], line.strip()} & known]


def contents(top: Path) -> dict[str, str]:
    """The texts of a working tree, and those that git's folder holds of ours."""
    found = {}
    for file in top.rglob("*"):
        name = file.relative_to(top).as_posix()
        inside = name.startswith(".git/")
        if file.is_file() and (not inside or name in (".git/MERGE_MSG", ".git/info/attributes")):
            found[name] = file.read_bytes().decode("utf-8", "surrogateescape")
    return found


@pytest.mark.world
@pytest.mark.parametrize("command", ROWS)
def test_nothing_of_others_drives_a_terminal(
    made: Path, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = sealed_environment(tmp_path) | AUTHORS
    env |= {"EDITOR": "sed -i -e s/b/x/", "KMERGE_FAVOR": f"x{EVIL}", "KMERGE_RULES": EVIL}
    live_in(env, monkeypatch)
    versions = {k: v for k, v in contents(made / "torn").items() if not k.startswith(".git/")}
    known = frozenset(
        line
        for text in (*versions.values(), *(t for v in VERSIONS for t in files(v).values()))
        for whole in (text if isinstance(text, str) else text.decode()).split("\n")
        for line in (whole, whole.strip(), f"{whole}\\n")
        if not whole.startswith(("<<<<<<<", "|||||||", ">>>>>>>"))
    )
    wrong = []
    for number, (state, words) in enumerate(ROWS[command]):
        root = tmp_path / (str(number) if command in WRITING else state or "once")
        if not root.exists():
            shutil.copytree(made / (state or "repo"), root / "repo", symlinks=True)
            shutil.copytree(made / "up", root / "up", symlinks=True)
            (root / "home").mkdir()
        monkeypatch.setenv("HOME", str(root / "home"))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(root / "home" / ".config"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(root / "home" / ".cache"))
        monkeypatch.chdir(root / "repo")
        before = contents(root / "repo")
        told = run(monkeypatch, [command, *words], known)
        wrong += [f"{' '.join(words)!a}: {line!a}" for line in told]
        for name, text in contents(root / "repo").items():
            if text != before.get(name):
                lines = hidden(git_said(name, text), known)
                wrong += [f"{' '.join(words)!a} wrote {name!a}: {line!a}" for line in lines]
    assert wrong == []


def git_said(name: str, text: str) -> str:
    """A text of ours without what git alone has written into it: the subject of a merge."""
    return text.partition("\n")[2] if name == ".git/MERGE_MSG" else text


def run(monkeypatch: pytest.MonkeyPatch, argv: list[str], known: frozenset[str]) -> list[str]:
    """What is wrong with what a command says, to a pipe and to a terminal."""
    odd: list[str] = []
    is_data = argv[0] in PRINTS_VALUES and "--dry-run" not in argv
    for tty in (False, True) if argv[0] in ("vendor", "diff") else (False,):
        with ExitStack() as stack, monkeypatch.context() as patched:
            given, out, err = (stack.enter_context(Stream(t)) for t in (False, tty, False))
            for name, stream in (("stdin", given), ("stdout", out), ("stderr", err)):
                patched.setattr(sys, name, stream)
            code = main(argv)
            said, told = out.text, err.text
        painted, plain = "--color" in argv or tty, argv[0] in PRINTS_LINES and not tty
        if not is_data:
            odd += hidden(said, known if plain else frozenset(), painted=painted)
        odd += hidden(told, painted=painted)
        if "internal error" in told or code not in (0, 1, 2, *GITS_OWN.get(argv[0], ())):
            odd.append(f"exit {code}: {told}")
    return odd
