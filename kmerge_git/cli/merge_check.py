"""Check the files of a merge, and report lost changes and unresolved conflicts.

The checks of a merge compare each file with both sides. A file of which a person took one side
whole, because it cannot be merged by fields, has no damage: the fields of the other side that are
not in it are named. A file that is still in conflict without markers is named as not checked.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from pathlib import Path

from kmerge_git.atomic_files import content
from kmerge_git.bounds import MESSAGE_NAMES
from kmerge_git.check.checked_texts import World, nowhere
from kmerge_git.check.merges.git_versions import NOTHING
from kmerge_git.check.registry import BESIDE, ERROR, WARNING, get
from kmerge_git.check.run import Run, check_files
from kmerge_git.cli.check_files import (
    Versions,
    disk_world,
    is_manifest_name,
    staged_world,
    world_of,
)
from kmerge_git.cli.check_repository import from_here, from_top_of, top_of
from kmerge_git.cli.in_and_out import listed, warn
from kmerge_git.cli.new_findings import unknown, words_of
from kmerge_git.compare.shown_values import ENCRYPTED
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.finding import DROPPED, Finding
from kmerge_git.git.merge_sides import (
    Change,
    in_progress,
    is_applying,
    of_commit,
    of_revisions,
    trailers_of,
)
from kmerge_git.git.tracked_files import Blobs, committed, values_of
from kmerge_git.kube.identity import describe
from kmerge_git.merge.three import Three
from kmerge_git.text.markers import first_marker
from kmerge_git.text.opaque_files import VAULT, holds_seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from kmerge_git.cli.check_files import VersionsOf
    from kmerge_git.compare.change import FieldChange
    from kmerge_git.git.merge_sides import Entries, FileCase, MergeSides
    from kmerge_git.whole.moved_edits import TakenByBoth


# the checks of a merge if the user selects none: merge damage, and patches without a target
SELECTED = ["merge-damage", "D69"]


class MergeCheck:
    """Check the files of a merge in progress or of a merge commit."""

    def __init__(self, rev: str = "", *, staged: bool = False, merged: Sequence[str] = ()) -> None:
        self._top = top_of("--merged" if merged else "--merge-of" if rev else "--merge")
        self._staged = staged
        self.sides = of_revisions(*merged) if merged else _sides_of(rev)
        self._blobs = Blobs(self._top)
        self._wanted: list[str] = []  # the paths that the user named, from the top

    @cached_property
    def _names(self) -> dict[str, None]:
        """Return the manifests that both sides touched, or one side alone in vain.

        A file with two new names is none. If git applies a commit, return the manifests that were
        in conflict.
        """
        if self.sides is None:
            return dict.fromkeys(sorted(name for name, _ in self._conflicts()))
        cases = self.sides.files().values()
        both = (case.path for case in cases if case.kind != "renamed to two names")
        return dict.fromkeys(sorted(name for name in both if is_manifest_name(name)))

    def world(self, paths: list[str]) -> tuple[World, VersionsOf, list[str]]:
        """Return a reader of the merged files, a finder of versions, and the files to check."""
        self._wanted = [from_top_of(self._top, path) for path in paths]
        if self.sides is None and not self._names:
            return nowhere(), lambda path: NOTHING, []
        chosen = self._chosen(self._names, paths)
        if self.sides is not None and self.sides.result:
            return self._world(self.sides.result), self._versions.of, chosen
        world, of, _ = staged_world(chosen) if self._staged else disk_world(chosen)
        return world, of, chosen

    def certificate(self) -> dict[str, object]:
        """Return what became of each place in the files that are checked."""
        if self.sides is None:
            return {}
        from kmerge_git.cli.certificate import certificate  # only for programs

        names = [name for name in self._names if self._is_wanted(name)]
        return certificate(self._top, self.sides, names, self._versions.of)

    @cached_property
    def _versions(self) -> Versions:
        return Versions(self._top, self._blobs, self.sides)

    def _chosen(self, names: Iterable[str], paths: list[str]) -> list[str]:
        """Return the files of the merge that the user names directly or by a folder."""
        for path, place in zip(paths, self._wanted, strict=True):
            if place != "." and not any(n == place or n.startswith(f"{place}/") for n in names):
                hint = "give files that both sides changed, or, to check all of them, give no file"
                raise UsageError(
                    "no file here was changed by both sides of the merge", path=path, hint=hint
                )
        return [from_here(self._top, name) for name in names if self._is_wanted(name)]

    def _is_wanted(self, name: str) -> bool:
        """Return whether the user names a file directly, by a folder, or names none."""
        wanted = self._wanted
        return not wanted or any(w in (".", name) or name.startswith(f"{w}/") for w in wanted)

    def _world(self, rev: str) -> World:
        return world_of(self._top, self._blobs, rev, lambda: committed(self._top, rev))

    def brought(self, findings: list[Finding], chosen: frozenset[str] | None) -> list[Finding]:
        """Return the findings that neither side of the merge has."""
        known: Counter[tuple[str, ...]] = Counter()
        left = findings
        for rev in (self.sides.ours, self.sides.theirs) if self.sides else ():
            # checks that compare a file with both sides find nothing in one side alone
            if all(get(finding.id).scope in BESIDE for finding in left):
                break
            paths = sorted({f.file for f in findings if get(f.id).scope not in BESIDE})
            known |= Counter(map(words_of, check_files(paths, Run(self._world(rev), chosen))))
            left = unknown(findings, known)
        return left

    def unasked(self) -> Iterator[str]:
        """Yield a warning if git would not ask the driver on ours for what both sides changed."""
        cases = self.sides.cases().values() if self.sides else ()
        paths = {case.path for case in cases if case.is_text and self._is_wanted(case.path)}
        if not self.sides or not paths:
            return
        from kmerge_git.git.unasked import WAYS, expected, unasked

        left = unasked(
            self._top, self.sides.ours, sorted(paths.intersection(expected(self._top)[1]))
        )
        if left:
            names = listed([*left], MESSAGE_NAMES)
            yield f"git would not use kmerge for {names} in {self.sides.ours[:10]}; {WAYS}"

    # -- files that a person decides as a whole ----------------------------------------------------

    @cached_property
    def undecided(self) -> dict[str, str]:
        """Return the files that are in conflict and show no markers, each with the reason."""
        if self.sides is not None and self.sides.result:
            return {}
        from kmerge_git.git.merge_command import unmerged  # also for a rebase or a stash

        left = [stages.path for stages in unmerged() if self._is_wanted(stages.path)]
        return {from_here(self._top, path): why for path, why in self._reasons(left)}

    def _reasons(self, left: list[str]) -> Iterator[tuple[str, str]]:
        hidden = [path for path in left if not self._shows_markers(path)]
        if not hidden:
            return
        from kmerge_git.git.repository import Repository  # only while files are in conflict
        from kmerge_git.whole.solving import Wishes, make_plan

        plan = make_plan(Repository.open(), Wishes())
        reasons = {file.path: file.reason or file.situation for file in plan.files}
        solved = {file.path for file in plan.files if file.verdict == "solved"}
        for path in hidden:
            why = {**reasons, **plan.others}.get(path, "")
            more = "`kmerge resolve --auto` resolves it" if path in solved else why
            yield path, f"it is still in conflict: {more}"

    def _shows_markers(self, path: str) -> bool:
        try:
            data = content(Path(self._top), path) or b""
        except KmergeError:  # a folder, for example of a submodule
            return False
        return first_marker(data.decode("utf-8", "surrogateescape")) >= 0

    def beside(self, found: list[Finding], chosen: frozenset[str] | None) -> list[Finding]:
        """Return the findings about whole files, and about resources in several files."""
        if one := self.as_one(chosen):
            return one
        known = {finding.file for finding in found if finding.id == _DROPPED}
        sided = self.one_sided(chosen, known)
        both = (*self.taken(chosen, found), *self.added(chosen, found))
        return [*sided, *both, *self.raised(chosen)]

    def one_sided(self, chosen: frozenset[str] | None, known: Container[str]) -> list[Finding]:
        """Return a finding for each file that the result has unchanged from one side.

        These are files that are not judged by value: encrypted and generated files, files that git
        does not merge, and files that one side deleted. Skip the `known` files.
        """
        if chosen is not None and _DROPPED not in chosen:
            return []
        cases = {name: entries for name, entries in self._conflicts() if self._is_wanted(name)}
        undone = self._undone()
        kinds = self._kinds([*cases, *undone]) if cases or undone else {}
        check = get(_DROPPED)
        found = [
            (WARNING, name, words)
            for name, entries in cases.items()
            for words in self._lacks(name, entries, kinds.get(name, ""))
        ]
        for name, case in undone.items():
            if words := self._lost_of_one(case, is_whole=name in kinds):
                found.append((ERROR, name, words))
        return [
            Finding(_DROPPED, severity, path, 1, 1, words, mend=check.mend_for(name), meant=name)
            for severity, name, words in found
            if (path := from_here(self._top, name)) not in known
        ]

    def _kinds(self, names: list[str]) -> dict[str, str]:
        """Return the kind of each file that attributes make one to be taken whole."""
        marked = values_of(self._top, names, "kmerge-generated")
        drivers = values_of(self._top, names, "merge")
        generated = [name for name in names if marked.get(name) in ("set", "true")]
        unmerged = [name for name in names if drivers.get(name) == "unset"]
        return dict.fromkeys(unmerged, "unmerged ") | dict.fromkeys(generated, "generated ")

    def _undone(self) -> dict[str, FileCase]:
        """Return the manifests that one side alone changed, and that are not so in the result."""
        cases = self.sides.undone() if self.sides and not self.sides.is_one_side else {}
        return {
            name: case
            for name, case in cases.items()
            if case.is_text and is_manifest_name(name) and self._is_wanted(name)
        }

    def _lost_of_one(self, case: FileCase, *, is_whole: bool) -> str:
        """Return a message if the result has nothing of a file that one side alone changed.

        A file of fields that is still there is judged by value.
        """
        base, ours, theirs = (self._blobs.read(e.oid) if e else None for e in case.entries)
        side = "ours" if theirs == base else "theirs"
        result = self._result(case.path)
        if result is None and not case.note and not self._is_moved(case.path, ours, theirs):
            return f"only {side} changed this file, but the merge does not have the file"
        if result == base and (is_whole or holds_seal(*(v for v in (ours, theirs) if v))):
            return f"only {side} changed this file, but the merge has no change of {side}"
        return ""

    def _result(self, name: str) -> bytes | None:
        """Return a file of the merge commit, or the staged file."""
        return self._blobs.read(f"{self.sides.result if self.sides else ''}:{name}")

    def _is_moved(self, name: str, *versions: bytes | None) -> bool:
        """Return whether other files of the result have gained all resources of a file."""
        from kmerge_git.kube.identity import identity
        from kmerge_git.tree.documents import YamlText

        try:
            roots = [r for v in versions if v is not None for r in YamlText(v, name).roots]
        except KmergeError:
            return False
        names = [identity(root) for root in roots]
        return bool(names) and all(one and self._versions.gained(one, name) for one in names)

    def _conflicts(self) -> Iterator[tuple[str, Entries]]:
        """Yield the manifests that a person may have decided, with their three versions."""
        if self.sides is not None and self.sides.result:
            for case in self.sides.cases().values():
                if case.is_text and case.path in self._names:
                    yield case.path, case.entries
            return
        from kmerge_git.git.index_stages import resolved_conflicts

        for stages in resolved_conflicts(self._top) if self.sides or is_applying() else ():
            is_text = all(entry.is_text for entry in stages.entries if entry)
            # git may still list conflicts of an older merge
            head = self._blobs.read(f"HEAD:{stages.path}")
            ours = self._blobs.read(stages.ours.oid) if stages.ours else None
            if is_text and is_manifest_name(stages.path) and head == ours:
                yield stages.path, stages.entries

    def _lacks(self, name: str, entries: Entries, kind: str) -> Iterator[str]:
        """Yield a message if a file is one side of a conflict about the whole file."""
        at = Three(*(self._blobs.read(entry.oid) if entry else None for entry in entries))
        versions = [data for data in at.each() if data is not None]
        if holds_seal(*versions):
            kind = "encrypted "
        if not kind and None not in (at.ours, at.theirs):
            return
        result = self._result(name)
        from kmerge_git.git.settings_in_force import with_deletion  # only for such a file

        if result is None and at.ours is None and with_deletion(Path(self._top), [name]):
            return  # in a merge, ours is the side whose deletions stay
        for side, other in (("ours", "theirs"), ("theirs", "ours")):
            if result != at.side(side) or at.side(other) in (None, result, at.base):
                continue
            names = list(dict.fromkeys(_missing(at.base, result, at.side(other), name)))
            if names:
                what = f"both sides changed this {kind}file, but the merge took {side} unchanged"
                if result is None:
                    what = f"{side} deleted this file, {other} changed it, and the merge deleted it"
                yield f"{what}; lost changes of {other}: {listed(names, MESSAGE_NAMES)}"

    # -- resources that both sides took out of one file --------------------------------------------

    def as_one(self, chosen: frozenset[str] | None) -> list[Finding]:
        """Return one finding if the whole result is one side, as `git merge -s ours` makes it."""
        is_asked = chosen is None or _DROPPED in chosen
        if self.sides is None or not is_asked or not self.sides.is_one_side:
            return []
        names = [name for name in self._names if self._is_wanted(name)]
        if len(self._names) < 2 or not names:  # one file is judged
            return []
        words = f"the merge took one side unchanged for all files: {listed(names, MESSAGE_NAMES)}"
        path, mend = from_here(self._top, names[0]), get(_DROPPED).mend
        return [Finding(_DROPPED, WARNING, path, 1, 1, words, mend=mend)]

    def unmeant(self, findings: list[Finding]) -> list[Finding]:
        """Remove the lost changes that the message of the merge commit names as meant.

        Report the names in the message that no finding has.
        """
        named = trailers_of(self.sides.result, DROPPED) if self.sides and self.sides.result else []
        if not named:
            return findings
        answers = {finding: {finding.meant, self._name_of(finding)} for finding in findings}
        lost = [finding for finding in findings if finding.meant]
        known = {name for finding in lost for name in answers[finding]}
        warn(
            *(
                f"{DROPPED}: {name}: no change that the merge lost has this name"
                for name in named
                if name not in known
            )
        )
        return [one for one in findings if one not in lost or answers[one].isdisjoint(named)]

    def _name_of(self, finding: Finding) -> str:
        return from_top_of(self._top, finding.file)

    def taken(self, chosen: frozenset[str] | None, known: list[Finding]) -> list[Finding]:
        """Return findings for resources that both sides moved, or one moved and the other deleted.

        Git sees no conflict in this, unless the sides renamed the whole file. Skip the
        resources that a `known` finding has twice.
        """
        if self.sides is None:
            return []
        from kmerge_git.whole.moved_edits import Arrivals, has_resource, taken_by_both

        cases = self.sides.cases().values()
        by_git = {case.path for case in cases if case.kind == "renamed to two names"}
        sides = (Arrivals(_apart(side), self._read) for side in self.sides.changes())
        findings = []
        for one in (taken for taken in taken_by_both(*sides) if taken.source not in by_git):
            files = [path for path in dict.fromkeys((one.ours, one.theirs)) if path]
            there = sum(has_resource(self._present(path), one.key) for path in files)
            check, severity, words = _about(one, there)
            is_known = any(f.id == check and one.resource in f.message for f in known)
            is_wanted = any(map(self._is_wanted, (one.source, *files)))
            if words and is_wanted and not is_known and (chosen is None or check in chosen):
                path, mend = from_here(self._top, files[-1]), get(check).mend
                findings.append(Finding(check, severity, path, 1, 1, words, mend=mend))
        return findings

    def added(self, chosen: frozenset[str] | None, known: list[Finding]) -> list[Finding]:
        """Return findings for resources that each side added in a file of its own.

        Skip the files of the `known` findings, for example those of a kustomization.
        """
        if self.sides is None or (chosen is not None and _TWICE not in chosen):
            return []
        from kmerge_git.whole.added_resources import added_by_both  # late: few merges have any
        from kmerge_git.whole.moved_edits import has_resource

        findings = []
        for key, one, other in added_by_both(*self.sides.changes(), self._read):
            name, files = describe(key), (one, other)
            is_known = any(f.id == _TWICE and name in f.message for f in known)
            is_there = all(has_resource(self._present(path), key) for path in files)
            if is_there and not is_known and any(map(self._is_wanted, files)):
                what = f"duplicate resource {name}: ours added it in {one}, theirs in {other}"
                path, mend = from_here(self._top, other), get(_TWICE).mend
                findings.append(Finding(_TWICE, WARNING, path, 1, 1, what, mend=mend))
        return findings

    def raised(self, chosen: frozenset[str] | None) -> Iterator[Finding]:
        """Yield findings for charts that both sides raised to the version that the result has."""
        if self.sides is None or (chosen is not None and _RAISED not in chosen):
            return
        from kmerge_git.whole.raised_charts import in_words, raised_alike, version_of

        for name, version, files in raised_alike(
            *self.sides.changes(), self._read, lambda name: bool(self._present(name))
        ):
            if self._is_wanted(name) and version_of(self._present(name)) == version:
                words, path = in_words(version, files), from_here(self._top, name)
                yield Finding(_RAISED, WARNING, path, 1, 1, words, mend=get(_RAISED).mend)

    def _read(self, oid: str) -> bytes:
        return self._blobs.read(oid) or b""

    def _present(self, name: str) -> bytes:
        """Return a file of the merge commit, or the staged file, or the file on the disk."""
        result = self.sides.result if self.sides else ""
        if result or self._staged:
            return self._read(f"{result}:{name}")
        try:
            return content(Path(self._top), name) or b""
        except KmergeError:  # a folder
            return b""


def _sides_of(rev: str) -> MergeSides | None:
    """Return the sides of a merge commit, or of the merge in progress; else those of HEAD.

    A commit that git applies has none: git remembers the versions of each file.
    """
    current = None if rev else in_progress()
    if current is None and not rev and is_applying():
        return None
    found = current or of_commit(rev or "HEAD")
    if not isinstance(found, str):
        return found
    if rev:
        raise UsageError(f"this commit is {found}", path=rev, hint="give a merge of two commits")
    warn(f"there is nothing to compare: no merge is in progress, and HEAD is {found}")
    return None


def _about(one: TakenByBoth, there: int) -> tuple[str, str, str]:
    """Return a check, a severity and a message for a resource that is in so many of its files.

    The message is '' if the merge has the resource as it should.
    """
    if not one.is_apart:
        return _DROPPED, WARNING, one.words if there and not (one.ours and one.theirs) else ""
    who = f"ours moved it from {one.source} to {one.ours}, theirs to {one.theirs}"
    if there == 2:
        return _TWICE, ERROR, f"duplicate resource {one.resource}: {who}"
    return _DROPPED, WARNING, "" if there else f"{one.resource} is lost: {who}"


def _apart(changes: list[Change]) -> Iterator[Change]:
    """Yield the changes of a side, with a deleted and an added file in place of a renamed one."""
    for change in changes:
        if change.old and change.new and change.old_path != change.new_path:
            yield Change(change.old_path, change.old_path, change.old, None)
            yield Change(change.new_path, change.new_path, None, change.new)
        else:
            yield change


_TWICE = "M04"
_DROPPED = "M11"
_RAISED = "M29"
# what SOPS rewrites in the block of each file that it changes
_ALWAYS = ("sops.mac", "sops.lastmodified", "sops.version")
_CIPHER = re.compile(r"ENC\[[^\]]*\]?")
# the fields that name a recipient in the block of SOPS
_RECIPIENTS = ("recipient", "fp", "arn", "resource_id", "vault_url", "vault_address")


def _missing(
    base: bytes | None, present: bytes | None, other: bytes | None, path: str
) -> Iterator[str]:
    """Yield the changes of one side that the present file lacks, by resource and field."""
    from kmerge_git.compare.file_changes import compare  # few files are taken whole

    if other is not None and other.startswith(VAULT.encode()):
        yield "the encrypted text"
        return
    left = compare(present, other, path) if present is not None else None
    for change in compare(base, other, path):
        if change.field in _ALWAYS:
            continue
        if left is None or any(_is_about(change, one) for one in left):
            yield _named(change)


def _is_about(change: FieldChange, other: FieldChange) -> bool:
    """Return whether one of two changes is at or inside the place of the other."""
    if change.resource != other.resource:
        return False
    if "layout" in (change.how, other.how):
        return change.how == other.how
    return all(a == b for a, b in zip(change.path, other.path, strict=False))


def _named(change: FieldChange) -> str:
    """Return the place of a change, and the recipient that it adds; never a cipher text."""
    value = change.after or change.before
    plain = value.plain if value else None
    about = ""
    if isinstance(plain, dict) and change.field.startswith("sops."):
        about = next((str(plain[name]) for name in _RECIPIENTS if plain.get(name)), "")
    elif isinstance(plain, str) and _CIPHER.match(plain):
        about = ENCRYPTED.strip("()")
    elif change.how in ("layout", "lines"):
        about = "comments or layout" if change.how == "layout" else "lines"
    place = " ".join(part for part in (change.resource, change.field) if part)
    return _CIPHER.sub(ENCRYPTED, " ".join(filter(None, (place, f"({about})" if about else ""))))
