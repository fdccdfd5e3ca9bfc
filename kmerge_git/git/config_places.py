"""Ask git for the paths of its files of configuration, attributes and hooks."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

from kmerge_git.errors import KmergeError
from kmerge_git.git.run_git import ask_git, ask_here, environment, git

Scope = Literal["local", "global", "system", "worktree"]
SCOPES: tuple[Scope, ...] = ("local", "worktree", "global", "system")


def in_repository(cwd: Path) -> bool:
    """Return whether git finds a repository from the folder `cwd`."""
    return ask_git("rev-parse", "--git-dir", cwd=cwd).code == 0


def needs_worktree_config(cwd: Path) -> None:
    """Raise an error unless worktrees have a configuration of their own.

    Without such a configuration git treats `--worktree` as `--local` while there is only one
    worktree.
    """
    asked = ("--local", "--type=bool", "--get", "extensions.worktreeConfig")
    if ask_git("config", *asked, cwd=cwd).line != "true":
        raise KmergeError(
            "this repository has no separate configuration for each worktree",
            hint="run `git config extensions.worktreeConfig true` first, or omit --worktree",
        )


def worktree_top(cwd: Path | None = None) -> Path | None:
    """Return the top of the working tree, or None in a bare repository and inside `.git`."""
    answer = ask_git("rev-parse", "--show-toplevel", cwd=cwd)
    return Path(answer.line) if answer.code == 0 and answer.line else None


def git_path(name: str, cwd: Path) -> Path:
    """Return the path of a file in git's directory; shared files are in the common directory."""
    return cwd / git("rev-parse", "--git-path", name, cwd=cwd).removesuffix("\n").removesuffix("\r")


def attribute_file(scope: Scope, cwd: Path, *, shared: bool = False) -> Path:
    """Return the attribute file of a scope, or with `shared` the committed `.gitattributes`."""
    if shared:
        top = ask_here("--show-toplevel", ", or omit --shared", cwd)
        return Path(top, ".gitattributes")
    if scope == "global":
        return user_attribute_file(cwd)
    if scope == "system":
        return system_attribute_file(cwd)
    return git_path("info/attributes", cwd)


def user_attribute_file(cwd: Path) -> Path:
    """Return `core.attributesFile` as set by the user or the system, or git's default file."""
    for flag in ("--global", "--system"):
        answer = ask_git("config", flag, "--type=path", "--get", "core.attributesFile", cwd=cwd)
        if answer.code == 0 and answer.line:
            return cwd / answer.line
    return usual_attributes()


def attributes_in_force(cwd: Path | None) -> Path:
    """Return the file that `core.attributesFile` names in any scope, or git's default file."""
    asked = ask_git("config", "--null", "--type=path", "--get", "core.attributesFile", cwd=cwd)
    if asked.code:
        return usual_attributes()
    given = Path(asked.out.removesuffix("\0") or os.devnull)
    # git opens files from the top of the working tree, if there is one
    return given if given.is_absolute() else (worktree_top(cwd) or cwd or Path()) / given


def usual_attributes() -> Path:
    """Return git's default file for the attributes of a user."""
    root = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(root).expanduser() / "git" / "attributes"


def system_attribute_file(cwd: Path) -> Path:
    """Return the `gitattributes` file next to the `gitconfig` of the installed git."""
    answer = ask_git("var", "GIT_ATTR_SYSTEM", cwd=cwd)  # git 2.41
    if answer.code == 0 and answer.line:
        return Path(answer.line)
    # Older gits tell the path of `gitconfig` only to the editor that they start.
    env = environment() | {"GIT_EDITOR": "echo"}
    env.pop("GIT_CONFIG_SYSTEM", None)
    edited = ask_git("config", "--system", "--edit", cwd=cwd, env=env)
    if edited.code or not edited.line:
        raise KmergeError("git does not report its system attribute file", hint="use --global")
    return Path(edited.line).parent / "gitattributes"


def known_system_file(cwd: Path) -> list[Path]:
    """Return the system's attribute file in a list, which is empty if git skips the file.

    The list is also empty if git does not name the file.
    """
    if not os.environ.get("GIT_ATTR_NOSYSTEM"):
        with suppress(KmergeError):
            return [system_attribute_file(cwd)]
    return []


def committed_attribute_files(cwd: Path) -> list[Path]:
    """Return the `.gitattributes` files that git tracks, the outer files first."""
    top = worktree_top(cwd)
    if top is None:
        return []
    listed = git("ls-files", "-z", "--", ":(top,glob)**/.gitattributes", cwd=top).split("\0")
    files = {top / name for name in (".gitattributes", *listed) if name}
    return sorted(filter(Path.is_file, files), key=lambda file: (len(file.parts), str(file)))


def lower_attribute_files(scope: Scope, cwd: Path, *, shared: bool = False) -> list[Path]:
    """Return the attribute files that the scope's own file overrules, the weakest first."""
    if shared:
        return [*known_system_file(cwd), user_attribute_file(cwd)]
    if scope == "system":
        return []
    if scope == "global":
        return known_system_file(cwd)
    return [*known_system_file(cwd), user_attribute_file(cwd), *committed_attribute_files(cwd)]


def config_values(scope: Scope | None, key: str, cwd: Path) -> list[str]:
    """Return all values of a key in one scope, or in all scopes if `scope` is None."""
    flags = [f"--{scope}"] if scope else []
    answer = ask_git("config", *flags, "--null", "--get-all", key, cwd=cwd)
    if answer.code == 0:
        return answer.out.split("\0")[:-1]
    if answer.code == 1 or scope == "system":  # 1: no such key
        return []
    which = scope or "merged"
    raise KmergeError(f"git cannot read its {which} configuration: {answer.complaint}")


def scopes_of(key: str, cwd: Path) -> list[tuple[str, str]]:
    """Return the scopes that set a key, each with its value; the last scope wins."""
    answer = ask_git("config", "--show-scope", "--null", "--get-all", key, cwd=cwd)
    words = answer.out.split("\0")[:-1] if answer.code == 0 else []
    return list(zip(words[::2], words[1::2], strict=False))
