"""Find names for the sides of a merge if git passes no names to its driver (before 2.44).

Git leaves traces: a variable for each commit that `git merge` merges, and files about the commit
at which a rebase or a series of picks is. A trace may belong to another command: a hook or an
editor of a merge has the variables of that merge, too. So a name is used only if the named commit
holds the text of theirs and HEAD holds the text of ours; then the name is true for any command.
The words are git's own.
"""

from __future__ import annotations

from kmerge_git.git.hints import git_folder
from kmerge_git.git.spawned_git import GitQuestion
from kmerge_git.outcome import LABELS
from kmerge_git.system import contents, decoded, environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


if TYPE_CHECKING:
    Names = tuple[str, str, str]
    # the labels, the commit with the base, and the commit with theirs
    Claim = tuple[Names, str, str]

_HEAD = "GITHEAD_"
_PICKS = ("pick", "p", "reword", "r", "edit", "e", "squash", "s", "fixup", "f")
_REVERTS = ("revert",)
# the ids of the empty text, in both kinds of repositories
_EMPTY = (
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)
_HEX = frozenset("0123456789abcdef")


def names(path: str, files: Names, *, with_base: bool) -> Names:
    """Return the labels of base, ours and theirs, or the default labels if nothing is certain.

    `files` hold the three texts. Without `with_base` the label of the base is not shown.
    """
    texts = _lines("hash-object", "--no-filters", "--", *files)
    ours = _path_in("HEAD", path, texts[1]) if len(texts) == 3 else ""
    folder = git_folder()
    if not (ours and folder):
        return LABELS
    base, _, theirs = texts
    merged = _of_a_merge(path, base, ours, theirs, with_base=with_base)
    return merged or _of_a_commit(folder, path, base, ours, theirs) or LABELS


def _of_a_merge(path: str, base: str, ours: str, theirs: str, *, with_base: bool) -> Names | None:
    """Return the labels if a `git merge` is running, otherwise None.

    Return None as well unless exactly one merged commit holds the text of theirs.
    """
    heads = [(oid, name, _path_in(oid, path, theirs)) for oid, name in _heads()]
    holders = [head for head in heads if head[2]]
    if len(holders) != 1:
        return None
    oid, name, there = holders[0]
    old, old_path = _merge_base(oid, path, base) if with_base else (LABELS[0], "")
    return _with_paths((old, "HEAD", name), (old_path, ours, there), path)


def _heads() -> list[tuple[str, str]]:
    """Return the merged commits and their names, which `git merge` gives in variables."""
    heads = []
    for pair in environment().items():
        key, name = (decoded(word) if isinstance(word, bytes) else word for word in pair)
        oid = key.removeprefix(_HEAD).lower()
        if key.startswith(_HEAD) and _is_id(oid) and name:
            heads.append((oid, name))
    return sorted(heads)


def _merge_base(oid: str, path: str, text: str) -> tuple[str, str]:
    """Return the label of the merge base, and the path of the base's text in that commit.

    The path is '' if the label does not name a commit.
    """
    bases = _lines("merge-base", "--all", "HEAD", oid)
    if len(bases) > 1:
        return "merged common ancestors", ""
    if not bases:
        return LABELS[0], ""
    there = _path_in(bases[0], path, text)
    short = _lines("rev-parse", "--short", bases[0]) if there else []
    return (short[0], there) if short else (LABELS[0], "")


def _of_a_commit(folder: str, path: str, base: str, ours: str, theirs: str) -> Names | None:
    """Return the labels of the patch, commit or stash that git is applying, or None."""
    mail = _mail(folder, base, theirs)
    if mail:
        return _with_paths(("constructed merge base", "HEAD", mail), ("", ours, ""), path)
    for labels, old, new in _commits(folder):
        there = _path_in(new, path, theirs)
        before = _path_in(old, path, base) if there else ""
        if before:
            return _with_paths(labels, (before, ours, there), path)
    return None


def _commits(folder: str) -> Iterator[Claim]:
    """Yield the commits that git may be merging just now, with the labels of the sides."""
    for file, at in (("sequencer/todo", 0), ("rebase-merge/done", -1)):
        word, oid = _command(_text(f"{folder}/{file}"), at)
        title = _title(oid) if word in (*_PICKS, *_REVERTS) else ""
        if title and word in _PICKS:
            has_parent = _lines("rev-parse", "--verify", "-q", f"{oid}^")
            old = f"parent of {title}" if has_parent else "(empty tree)"
            yield (old, "HEAD", title), f"{oid}^", oid
        elif title:
            yield (title, "HEAD", f"parent of {title}"), oid, f"{oid}^"
    for name in ("MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash"):
        stash = _text(f"{folder}/{name}").strip()
        if _is_id(stash):
            yield ("Stash base", "Updated upstream", "Stashed changes"), f"{stash}^", stash


def _command(todo: str, at: int) -> tuple[str, str]:
    """Return the word and the commit of one line in a todo list of git."""
    lines = [line for line in todo.split("\n") if line.strip() and line[0] != "#"]
    words = [word for word in lines[at].split()[:3] if word not in ("-C", "-c")] if lines else []
    return (words[0], words[1]) if len(words) > 1 and _is_id(words[1]) else ("", "")


def _title(oid: str) -> str:
    """Return the short id and the subject of a commit, such as `abc1234 (subject)`."""
    lines = _lines("rev-list", "-1", "--format=%h%n%B", oid, "--")  # a line `commit ID` above
    subject = next((line for line in lines[2:] if line.strip()), "")
    return f"{lines[1]} ({subject})" if len(lines) > 1 else ""


def _mail(folder: str, base: str, theirs: str) -> str:
    """Return the subject of the patch that `git am` or `rebase --apply` is applying.

    Return '' if the patch does not lead from the text of the base to the text of theirs.
    """
    for line in _text(f"{folder}/rebase-apply/patch").split("\n"):
        word, _, ids = line.partition(" ")
        old, _, new = ids.partition(" ")[0].partition("..")
        known = base.startswith(old) or (base in _EMPTY and not old.strip("0"))
        if word == "index" and len(new) >= 7 and theirs.startswith(new) and known:
            return _text(f"{folder}/rebase-apply/final-commit").partition("\n")[0].strip()
    return ""


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


def _with_paths(labels: Names, paths: Names, path: str) -> Names:
    """Return the labels; add the paths if a side has the file at another path."""
    if all(place in ("", path) for place in paths):
        return labels
    base, ours, theirs = (
        f"{label}:{place}" if place else label for label, place in zip(labels, paths, strict=True)
    )
    return base, ours, theirs


def _lines(*args: str) -> list[str]:
    output = decoded(GitQuestion(*args).answer()).removesuffix("\n")
    return output.split("\n") if output else []


def _text(file: str) -> str:
    return decoded(contents(file))


def _is_id(word: str) -> bool:
    return len(word) >= 4 and _HEX.issuperset(word)
