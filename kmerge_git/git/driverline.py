"""The command line that is registered as the merge driver, with its own fallback.

Git gives the line to `sh`. Exit 0 of our driver is "clean", 3 is "conflicts are in the file"; any
other end (no such interpreter, a traceback, a signal) is no answer, and git's own line merge runs
instead. Exits above 128 would abort the whole merge in newer gits: `test` keeps them out.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kmerge_git.errors import KmergeError

NAME = "Kubernetes manifests, merged by resource, field and keyed list"

# One word an option, because git quotes the values itself and a path may start with `-`.
ARGUMENTS = "--marker-size=%L --path=%P --base=%S --ours=%X --theirs=%Y %O %A %B"
FALLBACK = (
    "case $? in 0) exit 0;; 3) exit 1;; esac; "
    "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B; test $? -eq 0"
)


def driver_line(python: str = "", driver: Path | None = None, lib: str | None = None) -> str:
    """The line for `merge.kmerge.driver`, made for the interpreter that runs now."""
    return f"{driver_command(python, driver, lib)} {ARGUMENTS}; {FALLBACK}"


def driver_command(python: str = "", driver: Path | None = None, lib: str | None = None) -> str:
    """The first part of the line: interpreter, driver file, and where PyYAML is."""
    python = python or sys.executable
    if not python:
        raise KmergeError("Python does not know its own path", hint="run kmerge by a real python")
    driver = driver or Path(__file__).resolve().parents[1] / "cli" / "driver.py"
    if not driver.is_file():
        raise KmergeError(
            "the driver is no file of its own",
            path=str(driver),
            hint="git needs an unpacked installation (pip, pipx or uv), not a zip archive",
        )
    lib = yaml_directory(driver) if lib is None else lib
    words = [quoted(python), "-I", "-S", quoted(str(driver))]
    return " ".join(words + ([f"--lib={quoted(lib)}"] if lib else []))


def mergetool_line() -> str:
    """The line for `mergetool.kmerge.cmd`; -P keeps the repository's own modules out."""
    command = f"{sh_quoted(sys.executable)} -P -m kmerge_git mergetool"
    return command + ' "$BASE" "$LOCAL" "$REMOTE" "$MERGED"'


# what stands before the first hunk, with the file's name for those of the temporary files
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
    """The command for `diff.kmerge`: git puts ` "$@"` behind it, and ends if it does not give 0.

    So whatever happens to us, git's own diff of the two files is shown, and the rest goes on.
    It is a patch that can be applied: the names are those of the file.
    """
    command = f"{sh_quoted(sys.executable)} -P -m kmerge_git diff --external --"
    git = 'git -c core.quotePath=false diff --no-ext-diff --no-index -- "$2" "$5"'
    named = f'old="$2" new="$5" a="$1" b="${{8:-$1}}" x="$4" y="$7" LC_ALL=C awk \'{RENAMING}\''
    return f'kmerge_diff() {{ {command} "$@" || {git} | {named}; :; }}; kmerge_diff'


def yaml_directory(driver: Path) -> str:
    """The directory that holds PyYAML; nothing if the driver finds it beside its own package."""
    from importlib.util import find_spec

    loaded = sys.modules.get("yaml")  # the parser may have put a stand-in there, without a spec
    spec = find_spec("yaml") if loaded is None else None
    folders = loaded.__path__ if loaded else (spec and spec.submodule_search_locations) or ()
    if not folders:
        raise KmergeError("PyYAML was not found", hint="install kmerge-git again")
    found = Path(next(iter(folders))).resolve().parent
    return "" if found == driver.resolve().parents[2] else str(found)


def quoted(word: str, *, windows: bool = sys.platform == "win32") -> str:
    """A word that survives git's placeholders and then `sh`."""
    return sh_quoted(word, windows=windows).replace("%", "%%")


def sh_quoted(word: str, *, windows: bool = sys.platform == "win32") -> str:
    """A word in double quotes for `sh`; on Windows with `/`, because sh eats backslashes."""
    if "\n" in word or "\0" in word:
        raise KmergeError("a path with a line break cannot be registered", path=repr(word))
    if windows:
        word = word.replace("\\", "/")
    for char in '\\$`"':
        word = word.replace(char, "\\" + char)
    return f'"{word}"'


def command_of(line: str) -> str:
    """What a registered line runs before its placeholders, as `sh` gets it; '' if unknown."""
    if not line.endswith(f" {ARGUMENTS}; {FALLBACK}"):
        return ""
    return line.removesuffix(f" {ARGUMENTS}; {FALLBACK}").replace("%%", "%")
