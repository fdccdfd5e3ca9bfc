"""Whether git has anything to say about us at all, told from the files it would read.

A question to git costs as much as a whole small merge, and nearly always the answer is nothing.
So the files that could hold an answer are looked through for our words first. Wherever that is
not certain (no `.git` here, configuration in the environment, includes) git is asked.
"""

from __future__ import annotations

import os

CONFIG_WORDS = (b"[kmerge", b"conflictstyle", b"[include", b"attributesfile")
ATTRIBUTE_WORDS = (b"kmerge-", b"conflict-marker-size")
# Any of these can bring configuration or attributes that stand in no file we know.
UNUSUAL = ("GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_ATTR_SOURCE")


def nothing_is_set(path: str) -> bool:
    """Whether neither configuration nor attributes can say anything about a path."""
    if any(name in os.environ for name in UNUSUAL) or os.path.isabs(path):
        return False  # git's own paths are relative to the top folder
    common = _common_dir()
    if not common:
        return False
    for file in [*_config_files(common)]:
        if _holds(file, CONFIG_WORDS):
            return False
    return not any(_holds(file, ATTRIBUTE_WORDS) for file in _attribute_files(common, path))


def _common_dir() -> str:
    """The repository's own folder, shared by its worktrees; empty where we are not sure."""
    git_dir = os.environ.get("GIT_DIR", ".git")
    if not os.path.isdir(git_dir):
        pointer = _read(git_dir)
        if not pointer.startswith(b"gitdir: "):
            return ""
        git_dir = os.fsdecode(pointer[8:].rstrip(b"\r\n"))
    shared = _read(os.path.join(git_dir, "commondir")).strip()
    common = os.path.join(git_dir, os.fsdecode(shared)) if shared else git_dir
    if os.path.exists(os.path.join(git_dir, "config.worktree")):
        return ""
    return common if os.path.isfile(os.path.join(common, "config")) else ""


def _config_files(common: str) -> list[str]:
    env = os.environ
    files = [os.path.join(common, "config")]
    if "GIT_CONFIG_GLOBAL" in env:
        files.append(env["GIT_CONFIG_GLOBAL"])
    else:
        home = env.get("HOME", "")
        xdg = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        files += [os.path.join(home, ".gitconfig"), os.path.join(xdg, "git", "config")]
    if env.get("GIT_CONFIG_NOSYSTEM", "") in ("", "0", "false"):
        files += [env["GIT_CONFIG_SYSTEM"]] if "GIT_CONFIG_SYSTEM" in env else _system("gitconfig")
    return files


def _attribute_files(common: str, path: str) -> list[str]:
    env = os.environ
    files = [os.path.join(common, "info", "attributes"), ".gitattributes"]
    folder = os.path.dirname(path)
    while folder:
        files.append(os.path.join(folder, ".gitattributes"))
        folder = os.path.dirname(folder)
    xdg = env.get("XDG_CONFIG_HOME") or os.path.join(env.get("HOME", ""), ".config")
    files.append(os.path.join(xdg, "git", "attributes"))
    return files + _system("gitattributes")


def _system(name: str) -> list[str]:
    """The system's file, for the git that called us: its prefix is in GIT_EXEC_PATH."""
    files = [f"/etc/{name}"]
    prefix = os.environ.get("GIT_EXEC_PATH", "")
    for _ in range(2):
        prefix = os.path.dirname(prefix)
    return [*files, os.path.join(prefix, "etc", name)] if prefix.strip("/") else files


def _holds(file: str, words: tuple[bytes, ...]) -> bool:
    text = _read(file).lower()
    return any(word in text for word in words)


def _read(file: str) -> bytes:
    """The bytes of a file; nothing where there is none."""
    try:
        fd = os.open(file, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, 1 << 20)
    except OSError:
        return b""
    finally:
        os.close(fd)
