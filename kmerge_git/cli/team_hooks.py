"""Add the hooks of kmerge to `.pre-commit-config.yaml`; every other byte of the file stays.

The file is parsed as YAML, and lines are inserted into its text with its own indentation. If that
is not safe, the file is not changed, and the lines are printed for the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kmerge_git import __version__
from kmerge_git.atomic_files import read_text
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.git.installation import FileChange, SetupPlan
from kmerge_git.git.own_commit import version_line
from kmerge_git.git.probes import PRE_COMMIT
from kmerge_git.tree.documents import YamlText
from kmerge_git.tree.emit import dump
from kmerge_git.tree.nodes import Entry, Mapping, Node, Scalar, Sequence, column_of
from kmerge_git.tree.plain_values import load

SOURCE = "https://github.com/from/this-repository"
URL_AND_REV = re.compile(r"(?P<url>[^\s-]\S*)@(?P<rev>[^\s@:-][^\s@:]*)")
HOOKS = ("kmerge-check", "kmerge-merge", "kmerge-installed", "kmerge-register")
STAGES = ("pre-commit", "pre-merge-commit", "pre-push", "post-checkout")
TYPES = "default_install_hook_types"
TYPES_LINE = f"{TYPES}: [{', '.join(STAGES)}]\n"


@dataclass(frozen=True, slots=True)
class HookSource:
    """Hold the repository and the revision from which pre-commit gets the hooks."""

    url: str
    rev: str


class UnsafeEdit(KmergeError):
    """Report why kmerge does not edit a file."""


def hook_source(given: str) -> HookSource | None:
    """Return the source given as `URL@REV`, or that of this release; return None in a checkout."""
    if given:
        match = URL_AND_REV.fullmatch(given)
        if not match:
            hint = "use a value such as https://git.example.com/tools/kmerge-git@v0.1.0"
            raise UsageError(f"--hooks-from must be URL@REV, not {given!r}", hint=hint)
        return HookSource(match["url"], match["rev"])
    # without an address of its own the project has a placeholder (tools/set_address.py)
    is_release = version_line() == f"kmerge {__version__}" and "/this-repository" not in SOURCE
    return HookSource(SOURCE, f"v{__version__}") if is_release else None


def plan_team_hooks(top: Path, source: HookSource | None) -> tuple[SetupPlan, list[str]]:
    """Plan to add the missing hooks to the file at the top of a working tree.

    The second result is the lines that the user must add by hand if the file cannot be edited.
    """
    path = top / PRE_COMMIT
    before = read_text(path)
    try:
        if path.is_symlink():
            raise UnsafeEdit("the file is a symbolic link, which kmerge does not change")
        after, notes = with_hooks(before, source)
    except KmergeError as error:
        lines = _fresh(source).splitlines() if source else []
        note = f"no hooks were written to {path}: {error}" + ("; add these lines:" if lines else "")
        return SetupPlan((), (note,)), lines
    if after == before:
        return SetupPlan(()), []
    # the option is for older branches, which pre-commit would refuse, because they lack the file
    commit = f"commit {path}, then run `pre-commit install --allow-missing-config` in each clone"
    return SetupPlan((FileChange(path, before, after),), (*notes, commit)), []


def with_hooks(before: str, source: HookSource | None) -> tuple[str, list[str]]:
    """Return the text with all hooks and hook types, and notes; raise an error if unsafe."""
    text = YamlText(before.encode("utf-8", "surrogateescape"))
    lines = text.source.text.split("\n")
    if not text.roots and all(line.lstrip()[:1] in ("", "#") for line in lines):
        after = text.source.encode(text.source.text + _fresh(_known(source)))
        return after.decode("utf-8"), []
    root, repos = _repositories(text.roots)
    present = [_id(hook) for repo in repos.entries for hook in _hooks(repo)]
    missing = [name for name in HOOKS if name not in present]
    edits, notes = _types(root, repos), list[str]()
    own = next((at for at, repo in enumerate(repos.entries) if _is_own(repo, source)), None)
    if missing and own is None:
        repository = _repository(_known(source), missing, _columns(repos))
        edits.append((repos.entries[-1].end, repository))
    elif missing and own is not None:
        edits.append(_more_hooks(repos.entries[own], missing))
        notes.append(
            f"{', '.join(missing)}: these hooks need a `rev` of kmerge {__version__} or newer"
        )
    changed = text.source.text
    for offset, inserted in sorted(edits, reverse=True):
        changed = changed[:offset] + inserted + changed[offset:]
    after = text.source.encode(changed)
    if load(after) != [_wanted(load(text.data)[0], missing, own, source)]:
        raise UnsafeEdit("kmerge cannot edit the file safely")
    return after.decode("utf-8"), notes


def _fresh(source: HookSource) -> str:
    """Return the text of a file that has the hooks of kmerge and no other hooks."""
    return f"{TYPES_LINE}repos:\n{_repository(source, HOOKS, (2, 4, 6, 8))}"


def _known(source: HookSource | None) -> HookSource:
    if source is None:
        raise UnsafeEdit(
            "this kmerge is not a release, so the URL of its hooks is unknown",
            hint="give it with --hooks-from URL@REV",
        )
    return source


def _repositories(roots: list[Node]) -> tuple[Mapping, Sequence]:
    """Return the whole file and its list `repos`, if both have the usual form."""
    root = roots[0] if len(roots) == 1 else None
    repos = root.get("repos") if isinstance(root, Mapping) else None
    if not isinstance(root, Mapping) or not isinstance(repos, Sequence):
        raise UnsafeEdit("the file is not a single mapping with a list `repos`")
    is_twice = len(root.index()) < len(root.entries)
    if is_twice or repos.flow or repos.start < repos.content:
        raise UnsafeEdit("`repos` is not a plain block list, or the file has a duplicate key")
    return root, repos


def _list_of_hooks(repo: Entry) -> Sequence | None:
    hooks = repo.value.get("hooks") if isinstance(repo.value, Mapping) else None
    return hooks if isinstance(hooks, Sequence) else None


def _hooks(repo: Entry) -> Iterator[Mapping]:
    """Yield the hooks of an entry of `repos`."""
    hooks = _list_of_hooks(repo)
    for entry in hooks.entries if hooks else ():
        if isinstance(entry.value, Mapping):
            yield entry.value


def _id(hook: Mapping) -> str:
    name = hook.get("id")
    return name.value if isinstance(name, Scalar) else "a hook without `id`"


def _is_own(repo: Entry, source: HookSource | None) -> bool:
    """Return whether an entry of `repos` names the source, or has hooks of kmerge already."""
    url = repo.value.get("repo") if isinstance(repo.value, Mapping) else None
    if not isinstance(url, Scalar) or url.value == "local":
        return False
    is_source = source is not None and url.value == source.url
    return is_source or any(_id(hook) in HOOKS for hook in _hooks(repo))


def _types(root: Mapping, repos: Sequence) -> list[tuple[int, str]]:
    """Return the edit that lets `pre-commit install` install all hook types, or no edit."""
    value = root.get(TYPES)
    if value is not None and not (isinstance(value, Sequence) and value.entries):
        raise UnsafeEdit(f"`{TYPES}` in the file is not a list, or is empty")
    types = [entry.value for entry in value.entries] if value is not None else []
    # without a list pre-commit installs this one alone
    present = [node.value for node in types if isinstance(node, Scalar)] or ["pre-commit"]
    missing = [name for name in STAGES if name not in present]
    if not missing:
        return []
    _require_stages(root, repos, missing)
    if value is None:
        return [(root.index()["repos"].line, " " * _column(root) + TYPES_LINE)]
    last = value.entries[-1]
    if value.flow:
        return [(last.value.end, "".join(f", {name}" for name in missing))]
    return [(last.end, "".join(f"{' ' * column_of(last)}- {name}\n" for name in missing))]


def _require_stages(root: Mapping, repos: Sequence, more: list[str]) -> None:
    """Raise an error if hooks of others would run at more stages than now."""
    hooks = (hook for repo in repos.entries for hook in _hooks(repo))
    free = [hook for hook in hooks if "stages" not in hook.index()]
    others = [_id(hook) for hook in free if _id(hook) not in HOOKS]
    if others and "default_stages" not in root.index():
        names = ", ".join(others[:3]) + (", ..." if others[3:] else "")
        raise UnsafeEdit(
            f"hooks without `stages` ({names}) would also run at {', '.join(more)}; "
            "add `default_stages: [pre-commit]` to prevent this"
        )


def _columns(repos: Sequence) -> tuple[int, int, int, int]:
    """Return the columns of the dash and keys of an entry, and of the dash and keys of a hook."""
    for repo in repos.entries:
        hooks = _list_of_hooks(repo)
        if hooks and not hooks.flow:
            hook = hooks.entries[0]
            return column_of(repo), _column(repo.value), column_of(hook), _column(hook.value)
    dash = column_of(repos.entries[-1])
    return dash, dash + 2, dash + 4, dash + 6


def _column(node: Node) -> int:
    return node.start - (node.text.rfind("\n", 0, node.start) + 1)


def _repository(source: HookSource, names: Iterable[str], columns: tuple[int, ...]) -> str:
    """Return an entry for the list `repos`."""
    dash, key, hook, hook_key = columns
    lines = [
        _item(dash, key, dump({"repo": source.url})),
        " " * key + dump({"rev": source.rev}),
        " " * key + "hooks:\n",
        *(_item(hook, hook_key, f"id: {name}\n") for name in names),
    ]
    return "".join(lines)


def _item(dash: int, key: int, line: str) -> str:
    return " " * dash + "-" + " " * (key - dash - 1) + line


def _more_hooks(repo: Entry, names: list[str]) -> tuple[int, str]:
    """Return the edit that adds hooks to an entry of `repos`."""
    hooks = _list_of_hooks(repo)
    if not hooks or hooks.flow:
        raise UnsafeEdit("the `hooks` of kmerge in the file are not a block list")
    last = hooks.entries[-1]
    dash, key = column_of(last), _column(last.value)
    return last.end, "".join(_item(dash, key, f"id: {name}\n") for name in names)


def _wanted(
    values: object, names: list[str], own: int | None, source: HookSource | None
) -> dict[str, object]:
    """Return the values that the file has to have; `own` is the place of our entry, if any."""
    assert isinstance(values, dict)
    types = values.get(TYPES, ["pre-commit"])
    values[TYPES] = [*types, *(name for name in STAGES if name not in types)]
    hooks = [{"id": name} for name in names]
    if hooks and own is not None:
        values["repos"][own]["hooks"] += hooks
    elif hooks and source:
        values["repos"].append({"repo": source.url, "rev": source.rev, "hooks": hooks})
    return values
