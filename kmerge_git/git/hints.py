"""Save most questions to git: search the files that git would read for words such as `kmerge`.

A question to git costs as much time as a whole small merge, and nearly always the answer is empty.
So the files that could hold an answer are searched first. If the search is not certain (no `.git`
here, configuration in the environment, includes), git is asked.
"""

from __future__ import annotations

import sys

from kmerge_git.system import contents, decoded, exists, is_folder, parent, variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CONFIG_WORDS = (
    *(b"[kmerge", b"conflictstyle", b"[include"),
    *(b"attributesfile", b"[attr", b"splitindex"),
)
ATTRIBUTE_WORDS = (b"kmerge-", b"conflict-marker-size")
# Each of these variables can bring configuration or attributes from unknown files.
UNUSUAL = (
    *("GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_ATTR_SOURCE"),
    *("GIT_COMMON_DIR", "GIT_INDEX_FILE"),
)
# Platforms on which git may read the system's files elsewhere than in /etc or next to itself.
ELSEWHERE = ("darwin", "cygwin")
# git's words for an attribute without a value, and values with the same meaning
YES, NO = ("set", "true"), ("unset", "false")
IGNORING = "KMERGE_CHECK_IGNORE"  # the variable for `kmerge.check.ignore`
MOST = 1 << 20  # bytes; longer files are not looked through


def nothing_is_set(path: str) -> bool:
    """Return True if certainly no configuration and no attribute concerns a path."""
    if _is_unusual(UNUSUAL) or path[:1] == "/":
        return False  # git's own paths are relative to the top folder
    git_dir, common = _folders()
    if not common:
        return False
    inside = _on_the_way(path)
    if _hold(_config_files(common), CONFIG_WORDS):
        return False
    if _hold(_attribute_files(common, inside), ATTRIBUTE_WORDS):
        return False
    return not _in_index(f"{git_dir}/index", [file for file in inside if not exists(file)])


def may_be_configured(git_dir: str, word: bytes) -> bool:
    """Return whether git's configuration may hold a word, which is in lower case.

    Return True as well if `git_dir` is a file.
    """
    if _is_unusual(UNUSUAL) or not is_folder(git_dir):
        return True
    if exists(f"{git_dir}/config.worktree"):
        return True
    return _hold(_config_files(git_dir), (word, b"[include"))


def top_around(git_dir: str) -> str:
    """Return the working tree around a folder `.git`, or '' if only git can tell."""
    words = (b"worktree", b"bare = true", b"bare=true")
    unusual = ("GIT_DIR", "GIT_WORK_TREE")
    if git_dir[-5:] != "/.git" or any(variable(name) is not None for name in unusual):
        return ""
    return "" if any(may_be_configured(git_dir, word) for word in words) else parent(git_dir)


def may_be_tracked(git_dir: str, *words: bytes) -> bool:
    """Return whether the index may have a file with one of the words in its name."""
    if not is_folder(git_dir):
        return True
    other = variable("GIT_INDEX_FILE")
    entries = contents(other or f"{git_dir}/index", MOST)
    if not entries:
        return other is not None
    is_short = entries[4:8] == b"\0\0\0\4"  # version 4 shortens names
    return is_short or _is_partial(entries) or any(word in entries for word in words)


def may_be_said(git_dir: str, top: str, word: bytes, paths: Iterable[str]) -> bool:
    """Return whether a word may be in an attribute file that concerns one of the paths.

    The paths are relative to the top of the working tree.
    """
    asking = [name for name in UNUSUAL if name != "GIT_INDEX_FILE"]  # hooks have this variable
    if _is_unusual(asking) or not is_folder(git_dir):
        return True
    if exists(f"{git_dir}/config.worktree"):  # it may name another file of attributes
        return True
    inside = dict.fromkeys(file for path in paths for file in _on_the_way(path))
    files = _attribute_files(git_dir, [f"{top}/{file}" for file in inside])
    if _hold(_config_files(git_dir), (b"attributesfile", b"[include")) or _hold(files, (word,)):
        return True
    index = variable("GIT_INDEX_FILE") or f"{git_dir}/index"
    return _in_index(index, [file for file in inside if not exists(f"{top}/{file}")])


def _is_unusual(variables: Iterable[str]) -> bool:
    """Return whether git may read attributes or configuration from files unknown to this module."""
    return sys.platform in ELSEWHERE or any(variable(name) is not None for name in variables)


def _folders() -> tuple[str, str]:
    """Return git's folders of the worktree and of its repository, or ('', '') if uncertain."""
    git_dir = git_folder()
    if not git_dir:
        return "", ""
    shared = decoded(contents(f"{git_dir}/commondir").strip())
    common = git_dir
    if shared:
        common = shared if shared[0] == "/" else f"{git_dir}/{shared}"
    if exists(f"{git_dir}/config.worktree"):
        return "", ""
    return (git_dir, common) if exists(f"{common}/config") else ("", "")


def git_folder() -> str:
    """Return git's folder for the worktree in the current folder, or '' if there is none."""
    git_dir = variable("GIT_DIR")
    git_dir = ".git" if git_dir is None else git_dir
    if is_folder(git_dir):
        return git_dir
    pointer = contents(git_dir)
    return decoded(pointer[8:].rstrip(b"\r\n")) if pointer.startswith(b"gitdir: ") else ""


def _config_files(common: str) -> list[str]:
    own, system = variable("GIT_CONFIG_GLOBAL"), variable("GIT_CONFIG_SYSTEM")
    usual = [f"{variable('HOME') or ''}/.gitconfig", f"{_xdg()}/git/config"]
    files = [f"{common}/config", *(usual if own is None else [own])]
    return files + (_system("gitconfig") if system is None else [system])


def _attribute_files(common: str, inside: list[str]) -> list[str]:
    own = f"{_xdg()}/git/attributes"
    return [f"{common}/info/attributes", *inside, own, *_system("gitattributes")]


def _on_the_way(path: str) -> list[str]:
    """Return the paths of `.gitattributes` in all folders between the top and a file."""
    files = [".gitattributes"]
    folder = parent(path)
    while folder:
        files.append(f"{folder}/.gitattributes")
        folder = parent(folder)
    return files


def _in_index(index: str, files: list[str]) -> bool:
    """Return whether the index may have one of the attribute files.

    Git reads an attribute file from the index if the working tree does not have the file.
    """
    entries = contents(index, MOST) if files else b""
    if entries[4:8] == b"\0\0\0\4" and b"attributes" in entries:
        return True  # version 4 leaves out the common start of names
    return _is_partial(entries) or any(
        f"{file}\0".encode("utf-8", "surrogateescape") in entries for file in files
    )


def _is_partial(entries: bytes) -> bool:
    """Return whether the index may have more names than the bytes that were read.

    `link` means that a split index has names in another file, `sdir` that a sparse index has only
    the folder of some names.
    """
    return len(entries) == MOST or b"link\0" in entries or b"sdir\0" in entries


def _xdg() -> str:
    return variable("XDG_CONFIG_HOME") or f"{variable('HOME') or ''}/.config"


def _system(name: str) -> list[str]:
    """Return the possible paths of a system file for the git that started this process.

    The prefix of that git is in GIT_EXEC_PATH.
    """
    files = [f"/etc/{name}"]
    prefix = parent(parent(variable("GIT_EXEC_PATH") or ""))
    return [*files, f"{prefix}/etc/{name}"] if prefix.strip("/") else files


def _hold(files: list[str], words: tuple[bytes, ...]) -> bool:
    """Return whether a file has one of the words, or is too long to be searched."""
    for file in files:
        text = contents(file, MOST).lower()
        if len(text) == MOST or any(word in text for word in words):
            return True
    return False
