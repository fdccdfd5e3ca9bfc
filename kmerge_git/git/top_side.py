"""Find out which side's change goes on top: ours in a merge, theirs if commits are applied.

A rebase, a cherry-pick and `git am` put their commits, theirs, on top of ours. A revert and a
stash put nothing on top. Only the policy `rebump` needs the side, during a run of the driver, so
git is not called. The side is known by the labels (git 2.44), otherwise by the command that called
the driver (if the system shows the command), otherwise by the files in git's folder.
"""

from __future__ import annotations

from kmerge_git.git.hints import git_folder
from kmerge_git.system import calls, contents, decoded, environment, exists, is_folder

OURS, THEIRS, NOBODY = "ours", "theirs", ""
# git's own commands; an alias is not looked up
_BY_COMMAND = {
    **dict.fromkeys(("merge", "merge-tree"), OURS),
    **dict.fromkeys(("rebase", "cherry-pick", "am"), THEIRS),
    **dict.fromkeys(("revert", "stash", "checkout", "switch", "restore", "apply"), NOBODY),
}
_WITH_VALUE = ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix")
_STEPS = 6  # processes from the driver up to git, with a shell or two between


def mine(base: str = "", theirs: str = "") -> str:
    """Return the side that goes on top, or ''. Look at git's labels of base and theirs first."""
    for side in (_by_labels(base, theirs), _by_command()):
        if side is not None:
            return side
    return _by_files()


def by_labels(base: str, theirs: str) -> str:
    """Derive the side that goes on top from the labels alone; unclear labels mean a merge."""
    side = _by_labels(base, theirs)
    return OURS if side is None else side


def _by_labels(base: str, theirs: str) -> str | None:
    if theirs == "Stashed changes" or theirs.startswith("parent of ") or theirs == "(empty tree)":
        return NOBODY
    picks = base.startswith("parent of ") or base in ("(empty tree)", "constructed merge base")
    return THEIRS if picks else None


def _by_command() -> str | None:
    """Derive the side that goes on top from the git command that runs this process.

    Return None if the command is not visible or not known.
    """
    process = str(calls.getpid())
    for _ in range(_STEPS):
        state = decoded(contents(f"/proc/{process}/stat"))
        process = " ".join(state.rpartition(")")[2].split()[1:2])  # the parent
        if not process.isdigit():
            return None
        words = decoded(contents(f"/proc/{process}/cmdline")).split("\0")
        program = words[0].rpartition("/")[2]
        if program == "git" or program.startswith("git-"):
            return _of_words([program.removeprefix("git-"), *words[1:]])
    return None


def _of_words(words: list[str]) -> str | None:
    """Derive the side that goes on top from the words of a git command."""
    command, rest = words[0], words[1:]
    while command == "git" or command[:1] == "-":
        if command in _WITH_VALUE:
            rest = rest[1:]
        if not rest:
            return None
        command, rest = rest[0], rest[1:]
    if command == "merge-tree" and any(word.startswith("--merge-base") for word in rest):
        return NOBODY  # only the caller knows what the given base means
    if command == "rebase":
        return _of_rebase(git_folder())
    return _BY_COMMAND.get(command)


def _by_files() -> str:
    """Derive the side that goes on top from git's state files and the variables of `git merge`."""
    folder = git_folder()
    if folder and (is_folder(f"{folder}/rebase-merge") or is_folder(f"{folder}/rebase-apply")):
        return _of_rebase(folder)
    if folder and exists(f"{folder}/CHERRY_PICK_HEAD"):
        return THEIRS
    todo = _words(f"{folder}/sequencer/todo", 0) if folder else []
    if todo or (folder and exists(f"{folder}/REVERT_HEAD")):
        return THEIRS if todo[:1] in (["pick"], ["p"]) else NOBODY
    names = (decoded(n) if isinstance(n, bytes) else n for n in environment())
    is_merge = any(name.startswith("GITHEAD_") for name in names)
    return OURS if is_merge or (folder and exists(f"{folder}/MERGE_HEAD")) else NOBODY


def _of_rebase(folder: str) -> str:
    """Return theirs, or ours if `rebase -r` is making a merge commit again."""
    step = _words(f"{folder}/rebase-merge/done", -1)
    return OURS if step[:1] in (["merge"], ["m"]) else THEIRS


def _words(file: str, line: int) -> list[str]:
    """Return the words of one line in a todo list of git."""
    lines = [one for one in decoded(contents(file)).split("\n") if one.strip() and one[0] != "#"]
    return lines[line].split() if lines else []
