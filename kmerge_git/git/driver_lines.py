"""Build the command line of the merge driver, for git's configuration or for one git command.

Git gives the line to `sh`. With `KMERGE=0` no interpreter starts. The driver exits with 90 if the
merge is clean, with 93 if it has written conflicts into the file, and with 4 if it has no answer
and has printed the reason. Any other exit (no such interpreter, no such file, a traceback, a
signal) is no answer either, and the line reports this once a merge. Even exit 0 is no answer,
because an empty file or a module that ends the process gives exit 0, too. Without an answer git's
own line merge runs. Newer versions of git abort the whole merge at exits above 128, so the line
ends with `exit 1`.

For one command the patterns replace a user's own attribute file, which is the weakest place. So
the attributes of the repository overrule the patterns, and so do the lines of the user's own file,
which follow the patterns.
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

DRIVER_FILE = "kmerge_git/cli/driver.py"
MODULE = "-P -m kmerge_git"  # option -P keeps Python from importing modules of the repository
# The driver adds this to its exits 0 and 3.
ANSWER = 90
# One word an option, because git quotes the values itself and a path may start with `-`.
ARGUMENTS = f"--marker-size=%L --path=%P --base=%S --ours=%X --theirs=%Y {ANSWER} %O %A %B"
# An attribute may ask for markers of a gigabyte; the driver writes 200 characters at most.
SIZE = "--marker-size=$((%L>200?200:%L))"
MERGED = f"{SIZE} -L ours -L base -L theirs %A %O %B"
# If the disk is full, or files may not grow so large, ours stays whole, and is a conflict.
PLACED = ">%A~;c=$?;[ $c -lt 128 ]&&mv -f %A~ %A||{ rm -f %A~;c=1;};"
LINE_MERGE = f"git merge-file -p {MERGED}{PLACED}[ $c = 0 ]"
SWITCH = '[ "$KMERGE" = 0 ]||{ '
TESTS = '[ -x "$p" ]&&[ -r "$f" ]&&'
GONE = '[ -r "$f" ]||w="no file $f";[ -x "$p" ]||w="no program $p"'
# The message leaves out the name of the file, which may hold anything. Git keeps `index.lock`
# during a merge, so a `kmerge-told` that is not older was written in this merge.
SAID = '[ -f "$l" ]&&[ -f "$t" ]&&[ ! "$t" -ot "$l" ]'
HINT = 'h="run \\`kmerge status --deep\\`"'
AGAIN = 'h="install kmerge again, then run \\`kmerge install\\`"'
SAY = (
    f'{HINT};[ "$w" = "exit $c" ]||{AGAIN};'
    """echo "kmerge: the driver gave no answer: $w; merged by lines; $h">&2;"""
    '[ ! -f "$l" ]||echo>"$t"'
)
ONCE = f"l=$(git rev-parse --git-dir);t=$l/kmerge-told;l=$l/index.lock;{SAID}||{{ {SAY};}}"
CASES = f'{ANSWER})exit 0;;{ANSWER + 3})exit 1;;4);;*)w="exit $c";{GONE};{ONCE};;'
# The interpreter may be a script, whose output would become the result of `git merge-tree`.
ANSWERS = f">&2;c=$?;case $c in {CASES}esac;}};"
FALLBACK = f"{ANSWERS}{LINE_MERGE}"


def driver_line(python: str = "", driver: Path | None = None, lib: str | None = None) -> str:
    """Return the line for `merge.kmerge.driver`, which runs the current interpreter by default."""
    return with_fallback(f"{driver_command(python, driver, lib)} {ARGUMENTS}")


def with_fallback(command: str) -> str:
    """Return a line that runs a driver command, or git's line merge if the driver has no answer."""
    return f"{SWITCH}{command} {FALLBACK}"


def driver_command(python: str = "", driver: Path | None = None, lib: str | None = None) -> str:
    """Return the command that runs the driver: interpreter, driver file, and folder of PyYAML.

    The command tests first that interpreter and driver file exist, because otherwise `sh` would
    complain about a missing file at every merge of a file.
    """
    python = python or interpreter()
    driver = driver or Path(__file__).resolve().parents[1] / "cli" / "driver.py"
    if not driver.is_file():
        raise KmergeError(
            "the driver is not a separate file on disk",
            path=str(driver),
            hint="install kmerge with pip, pipx or uv, not from a zip archive",
        )
    lib = yaml_directory(driver) if lib is None else lib
    words = ['"$p" -I -S "$f"'] + ([f"--lib={quoted(lib)}"] if lib else [])
    return f"p={quoted(python)};{_file(driver)};{TESTS}{' '.join(words)}"


def interpreter() -> str:
    """Return the path of the current interpreter.

    In a virtual environment the path has no version number, so that an upgrade of Python keeps it.
    """
    if not sys.executable:
        raise KmergeError(
            "Python cannot find its own executable", hint="run kmerge with an installed Python"
        )
    if sys.prefix != sys.base_prefix:
        name = os.path.join(sys.prefix, "bin", "python")
        if os.path.exists(name) and os.path.samefile(name, sys.executable):
            return name
    return sys.executable


def _file(driver: Path) -> str:
    """Return shell code that sets `$f` to the driver's file.

    In a virtual environment the code uses a pattern that fits any Python version. If another
    Python has left a second driver there, the code names the file in full.
    """
    own = f"python3*/site-packages/{DRIVER_FILE}"
    drivers = [file.resolve() for file in Path(sys.prefix, "lib").glob(own)]
    if sys.prefix != sys.base_prefix and drivers == [driver]:
        return f"for f in {quoted(sys.prefix)}/lib/{own};do :;done"
    return f"f={quoted(str(driver))}"


def mergetool_line() -> str:
    """Return the line for `mergetool.kmerge.cmd`."""
    return f'{sh_quoted(interpreter())} {MODULE} mergetool "$BASE" "$LOCAL" "$REMOTE" "$MERGED"'


# rewrites the lines before the first hunk: the file's name replaces the temporary names
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
    """Return the command for `diff.kmerge`, to which git adds ` "$@"`.

    Git stops unless the command exits with 0. So if the diff of kmerge fails, the command shows
    git's own diff of the two files and exits with 0. That diff can be applied as a patch, because
    it contains the name of the file instead of temporary names.
    """
    command = f"{sh_quoted(interpreter())} {MODULE} diff --external --"
    git = 'git -c core.quotePath=false diff --no-ext-diff --no-index -- "$2" "$5"'
    named = f'old="$2" new="$5" a="$1" b="${{8:-$1}}" x="$4" y="$7" LC_ALL=C awk \'{RENAMING}\''
    return f'kmerge_diff() {{ {command} "$@" || {git} | {named}; :; }}; kmerge_diff'


def yaml_directory(driver: Path) -> str:
    """Return the folder of PyYAML, or '' if PyYAML lies next to the driver's own package."""
    from importlib.util import find_spec

    loaded = sys.modules.get("yaml")  # the parser may have put a module without a spec there
    spec = find_spec("yaml") if loaded is None else None
    folders = loaded.__path__ if loaded else (spec and spec.submodule_search_locations) or ()
    if not folders:
        raise KmergeError("PyYAML was not found", hint="install kmerge-git again")
    folder = Path(next(iter(folders))).resolve().parent
    return "" if folder == driver.resolve().parents[2] else str(folder)


def quoted(word: str) -> str:
    """Quote a word for `sh`, and escape each `%` for git's placeholders."""
    return sh_quoted(word).replace("%", "%%")


def sh_quoted(word: str) -> str:
    """Quote a word for `sh`."""
    if "\n" in word or "\0" in word:
        raise KmergeError(
            "git cannot run a program with a line break in its path; move it", path=repr(word)
        )
    for char in '\\$`"':
        word = word.replace(char, "\\" + char)
    return f'"{word}"'


def command_of(line: str) -> str:
    """Return the shell command that a line of this version runs, without its placeholders.

    Return '' for any other line.
    """
    end = f" {ARGUMENTS} {FALLBACK}"
    if not line.endswith(end):
        return ""
    return line.removesuffix(end).removeprefix(SWITCH).replace("%%", "%")


# Git's own line merge, and always a conflict: the three versions stay in the index, and the
# file in the working tree has its markers even if nothing finishes the merge.
MARKING = f"git merge-file -q {MERGED};false"
# Enough if the text is not shown: ours stays as it is, and the file is in conflict.
ONLY_MARK = "false"
DRAFT = "kmerge-attributes-"


@contextmanager
def marked(
    line: str, git_dir: Path | None = None, cwd: Path | None = None, *, own: Path | None = None
) -> Iterator[list[str]]:
    """Yield the options for `git` that bind a driver line to the default patterns for one call.

    `own` is the path of the user's own attribute file. A caller gives `own` if git's configuration
    does not name such a file.
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
    """Return the driver line that marks conflicts with these three labels and logs every file.

    The log is needed because the attributes may have changed when the merge is over.
    """
    base, ours, theirs = (quoted(label.replace("\n", " ")) for label in labels)
    words = f"{SIZE} -L {ours} -L {base} -L {theirs} %A %O %B"
    import resource  # few merges need it

    is_limited = resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY
    # a further process for each file, so only where git's merge may be cut
    merge = f"-qp {words}{PLACED}" if is_limited else f"-q {words};"
    return f"printf '%%s %%s\\0' %L %P >>{quoted(str(log))}; git merge-file {merge}false"


def _write(number: int, name: str, text: str) -> None:
    try:
        with open(number, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
    except OSError as error:  # the disk may be full, and the error names no file
        raise KmergeError(error.strerror or str(error), path=name) from error
