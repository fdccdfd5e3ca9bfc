"""The command line that is registered as the merge driver, and a line bound for one git command.

Git gives the line to `sh`. With `KMERGE=0` no interpreter starts. Exit 90 of our driver is
"clean", 93 is "conflicts are in the file", 4 is no answer, for a reason that it has printed.
Any other end (no such interpreter, no such file, a traceback, a signal) is no answer either,
and the line says so, once a merge. So is exit 0: an empty file gives it, too, and a module that
ends the process. Without an answer git's own line merge runs. Exits above 128 would abort the
whole merge in newer gits: `exit 1` keeps them out.

For one command the patterns take the place of a user's own attributes, the weakest place:
whatever a repository says about its files overrules them, and so does the user's own file,
whose lines follow.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kmerge_git.atomic_files import read_text
from kmerge_git.errors import KmergeError
from kmerge_git.git.attribute_files import DEFAULTS, AttributeFile, select
from kmerge_git.git.config_places import attributes_in_force
from kmerge_git.git.run_git import git

NAME = "Kubernetes manifests, merged by resource, field and keyed list"

# One word an option, because git quotes the values itself and a path may start with `-`.
OLDER_ARGUMENTS = "--marker-size=%L --path=%P --base=%S --ours=%X --theirs=%Y %O %A %B"
# This is added to the exits 0 and 3 of an answer. An older driver accepts no fourth argument: it
# does nothing and complains, while a result with exit 0 would be merged once more.
ANSWER = 90
ARGUMENTS = OLDER_ARGUMENTS.replace(" %O", f" {ANSWER} %O")
# An attribute may ask for markers of a gigabyte; the driver writes 200 characters at most.
MERGE_FILE = "git merge-file --marker-size=$((%L>200?200:%L)) -L ours -L base -L theirs %A %O %B"
LINE_MERGE = f"{MERGE_FILE}||exit 1"
SWITCH = '[ "$KMERGE" = 0 ]||{ '
TESTS = '[ -x "$p" ]&&[ -r "$f" ]&&'
GONE = '[ -r "$f" ]||w="no file $f";[ -x "$p" ]||w="no program $p"'
# The name of the file is not in the message: it may be anything. Git holds `index.lock` as long
# as a merge takes, so a `kmerge-told` that is not older was written in this merge.
SAID = '[ -f "$l" ]&&[ -f "$t" ]&&[ ! "$t" -ot "$l" ]'
SAY = (
    """echo "kmerge: the driver gave no answer: $w; merged by lines; """
    'run \\`kmerge doctor\\`">&2;[ ! -f "$l" ]||echo>"$t"'
)
ONCE = f"l=$(git rev-parse --git-dir);t=$l/kmerge-told;l=$l/index.lock;{SAID}||{{ {SAY};}}"
CASES = f'{ANSWER})exit 0;;{ANSWER + 3})exit 1;;4);;*)w="exit $c";{GONE};{ONCE};;'
# Output of an interpreter (it may be a script) would become `git merge-tree`'s result.
FALLBACK = f">&2;c=$?;case $c in {CASES}esac;}};{LINE_MERGE}"
# The end of lines of older versions; the part before it is their driver command.
OLDER_MERGE_FILE = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
OLDER_END = f"; case $? in 0) exit 0;; 3) exit 1;; esac; {OLDER_MERGE_FILE}; test $? -eq 0"


def driver_line(python: str = "", driver: Path | None = None, lib: str | None = None) -> str:
    """Return the line for `merge.kmerge.driver`, for the interpreter that runs now."""
    return with_fallback(f"{driver_command(python, driver, lib)} {ARGUMENTS}")


def with_fallback(command: str) -> str:
    """Return the line that takes a command's answer, or makes git's own line merge."""
    return f"{SWITCH}{command} {FALLBACK}"


def driver_command(python: str = "", driver: Path | None = None, lib: str | None = None) -> str:
    """Return what runs the driver: interpreter, driver file, and the folder of PyYAML.

    Both files are tested first: `sh` would complain for every file about one that is gone.
    """
    python = python or interpreter()
    driver = driver or Path(__file__).resolve().parents[1] / "cli" / "driver.py"
    if not driver.is_file():
        raise KmergeError(
            "the driver is no file of its own",
            path=str(driver),
            hint="git needs an unpacked installation (pip, pipx or uv), not a zip archive",
        )
    lib = yaml_directory(driver) if lib is None else lib
    words = ['"$p" -I -S "$f"'] + ([f"--lib={quoted(lib)}"] if lib else [])
    return f"p={quoted(python)};{_file(driver)};{TESTS}{' '.join(words)}"


def interpreter() -> str:
    """Return the interpreter that runs now, by the name that stays when its Python changes."""
    if not sys.executable:
        raise KmergeError("Python does not know its own path", hint="run kmerge by a real python")
    if sys.prefix != sys.base_prefix:
        name = os.path.join(sys.prefix, "bin", "python")
        if os.path.exists(name) and os.path.samefile(name, sys.executable):
            return name
    return sys.executable


def _file(driver: Path) -> str:
    """Set `$f` to the driver's file; in an environment by a pattern that any Python version fits.

    Where another Python has left a second driver there, the file is named in full.
    """
    own = "python3*/site-packages/kmerge_git/cli/driver.py"
    drivers = [file.resolve() for file in Path(sys.prefix, "lib").glob(own)]
    if sys.prefix != sys.base_prefix and drivers == [driver]:
        return f"for f in {quoted(sys.prefix)}/lib/{own};do :;done"
    return f"f={quoted(str(driver))}"


def mergetool_line() -> str:
    """Return the line for `mergetool.kmerge.cmd`; -P keeps the repository's own modules out."""
    command = f"{sh_quoted(interpreter())} -P -m kmerge_git mergetool"
    return command + ' "$BASE" "$LOCAL" "$REMOTE" "$MERGED"'


# rewrites the lines before the first hunk: the file's name replaces those of temporary files
RENAMING = (
    "function named(line, file, name, i) { "
    'i = file ~ /^\\// && file != "/dev/null" ? index(line, file) : 0; '
    'return i ? substr(line, 1, i - 1) "/" name substr(line, i + length(file)) : line } '
    'BEGIN { o = ENVIRON["old"]; n = ENVIRON["new"]; a = ENVIRON["a"]; b = ENVIRON["b"]; '
    'if (ENVIRON["x"] != ENVIRON["y"] && ENVIRON["x"] ENVIRON["y"] !~ /[.]/) '
    'also = "old mode " ENVIRON["x"] "\\nnew mode " ENVIRON["y"] "\\n"; '
    'if (a != b) also = also "rename from " a "\\nrename to " b "\\n" } '
    "/@@ -/ { inside = 1 } "
    "!inside { $0 = named(named(named(named($0, o, a), n, b), o, a), n, b) } "
    '{ print } NR == 1 { printf "%s", also } '
    'END { if (!NR && also) printf "diff --git a/%s b/%s\\n%s", a, b, also }'
)


def diff_line() -> str:
    """Return the command for `diff.kmerge`: git adds ` "$@"`, and stops unless it exits with 0.

    So if our diff fails, git's own diff of the two files is shown, and git goes on. That is a patch
    that can be applied: its names are those of the file.
    """
    command = f"{sh_quoted(interpreter())} -P -m kmerge_git diff --external --"
    git = 'git -c core.quotePath=false diff --no-ext-diff --no-index -- "$2" "$5"'
    named = f'old="$2" new="$5" a="$1" b="${{8:-$1}}" x="$4" y="$7" LC_ALL=C awk \'{RENAMING}\''
    return f'kmerge_diff() {{ {command} "$@" || {git} | {named}; :; }}; kmerge_diff'


def yaml_directory(driver: Path) -> str:
    """Return the folder of PyYAML; nothing if the driver finds it next to its own package."""
    from importlib.util import find_spec

    loaded = sys.modules.get("yaml")  # the parser may have put a stand-in there, without a spec
    spec = find_spec("yaml") if loaded is None else None
    folders = loaded.__path__ if loaded else (spec and spec.submodule_search_locations) or ()
    if not folders:
        raise KmergeError("PyYAML was not found", hint="install kmerge-git again")
    folder = Path(next(iter(folders))).resolve().parent
    return "" if folder == driver.resolve().parents[2] else str(folder)


def quoted(word: str, *, windows: bool = sys.platform == "win32") -> str:
    """Quote a word for git's placeholders and then for `sh`."""
    return sh_quoted(word, windows=windows).replace("%", "%%")


def sh_quoted(word: str, *, windows: bool = sys.platform == "win32") -> str:
    """Quote a word for `sh`; on Windows with `/`, because sh removes backslashes."""
    if "\n" in word or "\0" in word:
        raise KmergeError("a path with a line break cannot be registered", path=repr(word))
    if windows:
        word = word.replace("\\", "/")
    for char in '\\$`"':
        word = word.replace(char, "\\" + char)
    return f'"{word}"'


def command_of(line: str) -> str:
    """Return what a registered line runs before its placeholders, for `sh`; '' if not ours."""
    for end in (f" {ARGUMENTS} {FALLBACK}", f" {OLDER_ARGUMENTS}{OLDER_END}"):
        if line.endswith(end):
            return line.removesuffix(end).removeprefix(SWITCH).replace("%%", "%")
    return ""


def is_older(line: str) -> bool:
    """Return whether an older version of this package wrote the line of the driver."""
    return command_of(line) != "" and not line.startswith(SWITCH)


# Git's own line merge, and always a conflict: the three versions stay in the index, and the
# file in the working tree has its markers even if nothing finishes the merge.
# An attribute could ask for markers of gigabytes.
_FILES = "git merge-file -q --marker-size=$((%L>200?200:%L))"
MARKING = f"{_FILES} -L ours -L base -L theirs %A %O %B; false"
# The same with a note of each file: attributes may have changed when the merge is over.
_NOTE = "printf '%%s %%s\\0' %L %P >>{log}; " + _FILES + " {labels} %A %O %B; false"
# Enough where the text is not shown: ours stays as it is, with a conflict all the same.
ONLY_MARK = "false"
DRAFT = "kmerge-attributes-"


@contextmanager
def marked(
    line: str, git_dir: Path | None = None, cwd: Path | None = None, *, own: Path | None = None
) -> Iterator[list[str]]:
    """Give the words right behind `git` that bind this driver to the usual files for one call.

    `own`: the user's own attributes, where somebody knows that git's configuration names none.
    """
    folder = git_dir or Path(git("rev-parse", "--absolute-git-dir", cwd=cwd).rstrip("\r\n"))
    try:
        number, name = tempfile.mkstemp(prefix=f"{DRAFT}{os.getpid()}-", dir=folder.absolute())
    except OSError:  # git's directory cannot be written
        number, name = tempfile.mkstemp(prefix=DRAFT)
    try:
        # the text that `kmerge install` writes where no pattern is registered yet
        usual = select(AttributeFile(Path(), ""), [], DEFAULTS)[0]
        text = usual + read_text(own or attributes_in_force(cwd)).removeprefix("\ufeff")
        _write(number, name, text)
        yield [
            *("-c", f"merge.kmerge.name={NAME}"),
            *("-c", f"merge.kmerge.driver={line}"),
            *("-c", f"core.attributesFile={name}"),
        ]
    finally:
        Path(name).unlink(missing_ok=True)


def marking(log: Path, labels: tuple[str, str, str]) -> str:
    """Return the line that marks with the labels of base, ours and theirs, and notes every file."""
    base, ours, theirs = (quoted(label.replace("\n", " ")) for label in labels)
    return _NOTE.format(log=quoted(str(log)), labels=f"-L {ours} -L {base} -L {theirs}")


def _write(number: int, name: str, text: str) -> None:
    try:
        with open(number, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
    except OSError as error:  # the disk is full, and no name is in it
        raise KmergeError(error.strerror or str(error), path=name) from error
