"""Find out what git calls the sides of its merge, and whose change goes on top.

A rebase, a cherry-pick and `git am` put their commits, theirs, on top of ours. A revert and a
stash put nothing on top. Only the policy `rebump` needs this side, during a run of the driver, so
git is not called. The side is known by the labels (git 2.44), otherwise by the command that called
the driver (if the system shows the command), otherwise by the files in git's folder.

Before 2.44 git passes no labels to its driver, but leaves traces: a variable for each commit that
`git merge` merges, and a list of the commits that a rebase or a series of picks applies. A trace
may belong to another command: a hook or an editor of a merge has the variables of that merge, too.
So a name is used only if the named commit holds the text of theirs and HEAD holds the text of
ours; then the name is true for any command. The words are git's own.
"""

from __future__ import annotations

from kmerge_git.git.hints import git_folder
from kmerge_git.git.spawned_git import GitQuestion
from kmerge_git.outcome import LABELS
from kmerge_git.system import calls, contents, decoded, environment, exists, is_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.outcome import Labels

    # the labels, the commit with the base (or ''), and the commit with theirs
    Claim = tuple[Labels, str, str]

OURS, THEIRS, NOBODY = "ours", "theirs", ""
# git's own commands; an alias is not looked up
_BY_COMMAND = {
    **dict.fromkeys(("merge", "merge-tree"), OURS),
    **dict.fromkeys(("rebase", "cherry-pick", "am"), THEIRS),
    **dict.fromkeys(("revert", "stash", "checkout", "switch", "restore", "apply"), NOBODY),
}
_WITH_VALUE = ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix")
_STEPS = 6  # processes from the driver up to git, with a shell or two between
_HEAD = "GITHEAD_"
_PICKS = ("pick", "p", "reword", "r", "edit", "e", "squash", "s", "fixup", "f")
# the ids of the empty text, in both kinds of repositories
_EMPTY = (
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)
HEX = frozenset("0123456789abcdef")


def names(path: str, files: Labels, *, with_base: bool) -> Labels:
    """Return the labels of base, ours and theirs, or the default labels if nothing is certain.

    `files` hold the three texts. Without `with_base` the label of the base is not shown.
    """
    texts = _lines("hash-object", "--no-filters", "--", *files)
    ours = _path_in("HEAD", path, texts[1]) if len(texts) == 3 else ""
    for labels, old, new in (*_merged_heads(with_base), *_applied_commits()) if ours else ():
        theirs = _path_in(new, path, texts[2])
        if theirs:
            base = _path_in(old, path, texts[0]) if old else ""
            return _with_paths(labels, (base, ours, theirs), path)
    return LABELS


def _merged_heads(with_base: bool) -> Iterator[Claim]:
    """Yield the labels and commits of a `git merge` that merges a single commit."""
    heads = [
        (name.removeprefix(_HEAD), said) for name, said in _variables() if name.startswith(_HEAD)
    ]
    for commit, name in heads:
        if len(heads) == 1 and name and _is_id(commit):
            bases = _lines("merge-base", "--all", "HEAD", commit) if with_base else []
            if len(bases) == 1:
                yield (_lines("rev-parse", "--short", bases[0])[0], "HEAD", name), bases[0], commit
            else:
                label = "merged common ancestors" if bases else LABELS[0]
                yield (label, "HEAD", name), "", commit


def _applied_commits() -> Iterator[Claim]:
    """Yield the labels and commits of the changes that git may be applying now."""
    folder = git_folder()
    for file, at in (("sequencer/todo", 0), ("rebase-merge/done", -1)):
        words = [word for word in _words(f"{folder}/{file}", at) if word not in ("-C", "-c")]
        commit = words[1] if len(words) > 1 and _is_id(words[1]) else ""
        if commit and words[0] in (*_PICKS, "revert"):
            # a line `commit ID` is above
            said = _lines("rev-list", "-1", "--format=%h%n%B", commit, "--")
            title = f"{said[1]} ({said[2]})" if len(said) > 2 else commit
            if words[0] == "revert":
                yield (title, "HEAD", f"parent of {title}"), commit, f"{commit}^"
            else:
                yield (f"parent of {title}", "HEAD", title), f"{commit}^", commit


def _path_in(commit: str, path: str, text: str) -> str:
    """Return the path of a text in a commit, or '' if the commit does not have the text.

    If nothing is at `path`, return the only other path with the text.
    """
    there = _lines("rev-parse", "--verify", "-q", f"{commit}:{path}")
    if there:
        return path if there == [text] else ""
    if text in _EMPTY:
        return path  # the ancestor of a file that both sides added
    entries = decoded(GitQuestion("ls-tree", "-r", "-z", commit).answer()).split("\0")
    parts = [entry.partition("\t") for entry in entries]
    names = [name for kind, _, name in parts if kind.rpartition(" ")[2] == text]
    return names[0] if len(names) == 1 else ""


def _with_paths(labels: Labels, paths: Labels, path: str) -> Labels:
    """Return the labels; add the paths if a side has the file at another path."""
    if all(place in ("", path) for place in paths):
        return labels
    base, ours, theirs = (
        f"{label}:{place}" if place else label for label, place in zip(labels, paths, strict=True)
    )
    return base, ours, theirs


def mine(base: str = "", theirs: str = "") -> str:
    """Return the side that goes on top, or ''. Look at git's labels of base and theirs first."""
    for side in (_by_labels(base, theirs), _by_command()):
        if side is not None:
            return side
    return _by_files()


def is_topic_branch(name: str) -> bool:
    """Return whether a branch, as git names ours, is certainly not the one of `origin/HEAD`.

    A detached HEAD may hold any branch. Git before 2.44 names no branch (`%X`); of the commands for
    which ours goes on top, `git merge` alone is sure to merge into HEAD.
    """
    name = name.partition(":")[0]  # the path of a renamed file
    if name == "%X":
        name = "HEAD" if any(key.startswith(_HEAD) for key, _ in _variables()) else ""
    refs = _lines("rev-parse", "--symbolic-full-name", name, "refs/remotes/origin/HEAD")
    return len({_branch(ref) for ref in refs} - {""}) == 2


def _branch(ref: str) -> str:
    """Return the name of a branch without the name of its remote, or '' for other refs."""
    kind, _, name = ref.removeprefix("refs/").partition("/")
    return name.partition("/")[2] if kind == "remotes" else name


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
    is_merge = any(name.startswith(_HEAD) for name, _ in _variables())
    return OURS if is_merge or (folder and exists(f"{folder}/MERGE_HEAD")) else NOBODY


def _of_rebase(folder: str) -> str:
    """Return theirs, or ours if `rebase -r` is making a merge commit again."""
    step = _words(f"{folder}/rebase-merge/done", -1)
    return OURS if step[:1] in (["merge"], ["m"]) else THEIRS


def _words(file: str, line: int) -> list[str]:
    """Return the words of one line in a todo list of git."""
    lines = [one for one in decoded(contents(file)).split("\n") if one.strip() and one[0] != "#"]
    return lines[line].split() if lines else []


def _lines(*args: str) -> list[str]:
    output = decoded(GitQuestion(*args).answer()).removesuffix("\n")
    return output.split("\n") if output else []


def _is_id(word: str) -> bool:
    return len(word) >= 4 and HEX.issuperset(word.lower())


def _variables() -> Iterator[tuple[str, str]]:
    for pair in environment().items():
        name, value = (decoded(word) if isinstance(word, bytes) else word for word in pair)
        yield name, value
