"""The whole story of a file merge, top-down.

bytes -> trivial cases -> guards -> text -> documents -> nodes -> rules make a plan
      -> the plan becomes text -> a merge by lines, git's own where there is doubt -> the proof
      -> the better of the two results.

A line merge that is clean and means the same as ours has the last word on the bytes. Where ours
is clean and means something else, structure wins. Where ours clashes, a clean line merge stands
if it passes every check. Whatever goes wrong inside ends in git's line merge.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported, UsageError
from kmerge_git.merge import documents
from kmerge_git.merge.decide.git import GitRules
from kmerge_git.merge.ends import put_mark_into_hunk, to_bytes
from kmerge_git.merge.journal import Journal
from kmerge_git.merge.plan import MOVED_AND_GONE
from kmerge_git.merge.proving import Unproved, give_up_unproved, prove
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.line_opinion import lines_agree, needs_proof
from kmerge_git.outcome import RULES, SIDES, STYLES, Conflict, Outcome
from kmerge_git.text.pieces import Hunk, side_text
from kmerge_git.text.sealed import SEALED, is_sealed
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split, split_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.merge.documents import Merged
    from kmerge_git.merge.journal import Policy
    from kmerge_git.text.linemerge import LineMerge
    from kmerge_git.tree.documents import Stream

LABELS = ("base", "ours", "theirs")


class Options:
    """How to merge: what a caller, git's attributes and the settings said."""

    __slots__ = ("favor", "labels", "marker_size", "path", "policy", "rules", "style", "virtual")

    def __init__(
        self,
        path: str = "",
        rules: str = "git",
        favor: str | None = None,
        marker_size: int = 7,
        labels: tuple[str, str, str] = LABELS,
        style: str = "merge",
        policy: Policy | None = None,
        virtual: bool = False,
    ) -> None:
        for name, value, known in (
            ("rules", rules, RULES),
            ("favor", favor or "", ("", *SIDES)),
            ("style", style, STYLES),
        ):
            if value not in known:
                raise UsageError(f"{name}: `{value}` is none of {', '.join(filter(None, known))}")
        self.path = path
        self.rules = rules
        self.favor = favor or ""
        self.marker_size = marker_size
        self.labels = labels
        self.style = style
        self.policy = policy
        self.virtual = virtual  # an inner merge of a criss-cross: base instead of markers


class Asked:
    """A line merge that starts when somebody asks for it, and once only."""

    __slots__ = ("_answer", "_start")

    def __init__(self, start: Callable[[], LineMerge]) -> None:
        self._start = start
        self._answer: tuple[bytes, int] | None = None

    def result(self) -> tuple[bytes, int]:
        """(merged text, number of conflicts); -1 conflicts: there is no merge by lines."""
        if self._answer is None:
            self._answer = self._start().result()
        return self._answer


def merge_files(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    *,
    path: str = "",
    rules: str = "git",
    favor: str | None = None,
    marker_size: int = 7,
    labels: tuple[str, str, str] = LABELS,
    style: str = "merge",
    policy: Policy | None = None,
    line_merge: Callable[[bytes, bytes, bytes], tuple[bytes, bool]] | None = None,
) -> Outcome:
    """Merge two versions of a manifest that come from one base, as the git driver does."""
    options = Options(path, rules, favor, marker_size, labels, style, policy)
    texts = Three(base, ours, theirs)

    def start() -> LineMerge:
        from kmerge_git.text.linemerge import Given, TemporaryFiles

        if line_merge is not None:
            return Given(*line_merge(base, ours, theirs))
        return TemporaryFiles(
            (base, ours, theirs),
            marker_size=marker_size,
            labels=labels,
            style=style,
            favor=options.favor,
        )

    return merge(texts, options, start)


def merge(texts: Three[bytes], options: Options, start: Callable[[], LineMerge]) -> Outcome:
    """The same with everything given; `start` starts git's line merge."""
    trivial = _trivial(texts)
    if trivial is not None:
        return Outcome(trivial, True, "same")
    lines = Asked(start)
    try:
        sources = texts.map(lambda data: Source(data, options.path))
        return _by_structure(sources, options, lines)
    except KmergeError as error:
        return _by_lines(lines, texts, options, _told(error))
    except Exception as error:  # a bug must cost a conflict, not data
        reason = f"internal error: {type(error).__name__}: {error}"
        return _by_lines(lines, texts, options, reason)


def _told(error: KmergeError) -> str:
    """Why a file is merged by lines; whoever shows it knows its name."""
    if "{{" in error.excerpt:
        return "a template, no YAML"
    return f"line {error.line}: {error.why}" if error.line else error.why


def _trivial(texts: Three[bytes]) -> bytes | None:
    """The three comparisons that need no look inside."""
    if texts.theirs in (texts.base, texts.ours):
        return texts.ours
    return texts.theirs if texts.ours == texts.base else None


def _guard(streams: Three[Stream], size: int) -> None:
    """Refuse what must not be merged by field.

    Sealed files: their mac covers all values. Conflict markers in an input: rerere's images,
    ancestors of a criss-cross.
    """
    # what versions share is one text in memory (see `split_like`), and looked through once
    both = (*streams.ours.documents, *streams.theirs.documents)
    contents = {id(d.content): d.content for d in both}
    if any("ENC[" in content and is_sealed(content) for content in contents.values()):
        raise Unsupported(SEALED)
    contents |= {id(d.content): d.content for d in streams.base.documents}
    if not any("<<<<<<<" in content for content in contents.values()):
        return
    from kmerge_git.text.markers import has_markers

    for stream in (streams.base, streams.ours, streams.theirs):
        if has_markers(stream.source.text, min(size, 7)) >= 0:
            raise Unsupported("an input holds conflict markers")


def _by_structure(sources: Three[Source], options: Options, lines: Asked) -> Outcome:
    base = split(sources.base)
    streams = Three(base, split_like(sources.ours, base), split_like(sources.theirs, base))
    _guard(streams, options.marker_size)
    journal = Journal(options.favor, options.policy)
    merged = documents.merge(rules_named(options.rules, journal), streams, options.path)
    try:
        return _proved(merged, sources, streams, options, lines, journal)
    except Unproved:
        text, count = lines.result()
        if count or _sound(text, streams, options):
            raise  # git's line merge is the better answer
        give_up_unproved(merged)
        return _conflicted(merged, sources, options, journal)


def _proved(
    merged: Merged,
    sources: Three[Source],
    streams: Three[Stream],
    options: Options,
    lines: Asked,
    journal: Journal,
) -> Outcome:
    """The better of the two merges, if ours says what was decided."""
    if not _hunks(merged):
        return _clean(merged, streams, options, lines, journal)
    for side in ("ours", "theirs"):
        prove(merged, side)
    brings_back = any(hunk.why == MOVED_AND_GONE for _, hunk in _hunks(merged))
    text, count = (b"", 1) if brings_back else lines.result()
    if count == 0 and _sound(text, streams, options):
        return Outcome(
            text,
            True,
            "lines",
            decisions=tuple(journal.decisions),
            reason="git's line merge is clean",
        )
    return _conflicted(merged, sources, options, journal)


def rules_named(name: str, journal: Journal) -> GitRules:
    """The rule set of a name."""
    if name == "kyaml":
        from kmerge_git.merge.kyaml.three_way import KyamlRules

        return KyamlRules(journal)
    return GitRules(journal)


def _clean(
    merged: Merged, streams: Three[Stream], options: Options, lines: Asked, journal: Journal
) -> Outcome:
    """Ours is clean: git's bytes if they mean the same, else ours."""
    text = _text(merged, lambda pieces, _: side_text(pieces, "ours"))
    data = to_bytes(text, streams.map(lambda stream: stream.source))
    decisions = tuple(journal.decisions)
    agreed = lines_agree(merged, streams)
    by_lines, count = (data, 0) if agreed else lines.result()
    is_confirmed = count == 0 and by_lines == data
    if not is_confirmed or needs_proof(merged):
        prove(merged, "ours")
    if is_confirmed:
        return Outcome(data, True, "structure", decisions=decisions)
    if count == 0 and _same_meaning(by_lines, text, options.path):
        return Outcome(
            by_lines, True, "lines", decisions=decisions, reason="the line merge means the same"
        )
    if len(split(Source.of(text)).documents) != len(merged.resources):
        raise Unsupported("the result has other documents than were merged")
    return Outcome(data, True, "structure", decisions=decisions)


def _conflicted(
    merged: Merged, sources: Three[Source], options: Options, journal: Journal
) -> Outcome:
    from kmerge_git.merge.spell import Marks, spell
    from kmerge_git.text.markers import marker_size_for

    put_mark_into_hunk(merged, sources)
    texts = (sources.base.text, sources.ours.text, sources.theirs.text)
    size = marker_size_for(texts, options.marker_size)
    marks = Marks(options.labels, size, options.style)
    conflicts = []
    for resource, hunk in _hunks(merged):
        conflicts.append(
            Conflict(resource, hunk.place, hunk.why, hunk.base, hunk.ours, hunk.theirs)
        )
    if options.virtual:
        text = _text(merged, lambda pieces, _: side_text(pieces, "base"))
    else:
        text = _text(merged, lambda pieces, name: spell(pieces, marks, name))
    data = to_bytes(text, sources)
    found = tuple(conflicts)
    return Outcome(data, False, "structure", conflicts=found, decisions=tuple(journal.decisions))


def _by_lines(lines: Asked, texts: Three[bytes], options: Options, reason: str) -> Outcome:
    """Git's line merge; ours with a conflict where even git cannot merge, or does damage."""
    if any(is_sealed(data.decode("utf-8", "replace")) for data in (texts.ours, texts.theirs)):
        conflict = (Conflict("", "", SEALED),)
        return Outcome(texts.ours, False, "kept", conflicts=conflict, reason=SEALED)
    text, count = lines.result()
    if count < 0:
        conflict = (Conflict("", "", reason),)
        return Outcome(texts.ours, False, "kept", conflicts=conflict, reason=reason)
    if count == 0 and _is_damaged(text, texts, options):
        return _whole_conflict(texts, options, reason)
    conflicts = tuple(Conflict("", "", "the lines conflict") for _ in range(count))
    return Outcome(text, count == 0, "lines", conflicts=conflicts, reason=reason)


def _is_damaged(text: bytes, texts: Three[bytes], options: Options) -> bool:
    """Whether three inputs that are YAML became something that no input was."""
    try:
        streams = texts.map(lambda data: split(Source(data, options.path)))
        streams.map(lambda stream: stream.roots)
    except KmergeError:
        return False
    return not _sound(text, streams, options)


def _whole_conflict(texts: Three[bytes], options: Options, reason: str) -> Outcome:
    """The whole file as one conflict."""
    sources = texts.map(lambda data: Source(data, options.path))
    at = sources.map(lambda source: source.text)
    resource = documents.Resource(Three(None, None, None), "", None)
    why = "a merge by lines would do damage"
    resource.pieces = [Hunk(at.base, at.ours, at.theirs, "", why)]
    outcome = _conflicted(documents.Merged([], [resource], ""), sources, options, Journal())
    outcome.reason = reason
    return outcome


def _hunks(merged: Merged) -> list[tuple[str, Hunk]]:
    found = [("", p) for p in merged.prologue if isinstance(p, Hunk)]
    for resource in merged.resources:
        found += [(resource.name, p) for p in resource.pieces if isinstance(p, Hunk)]
    return found


def _sound(data: bytes, streams: Three[Stream], options: Options) -> bool:
    """Whether a line merge brings no damage that its inputs did not have."""
    from kmerge_git.merge.verify.damage import new_damage

    try:
        stream = split(Source(data, options.path))
        return not new_damage(stream, streams, options.path)
    except KmergeError:
        return False


def _same_meaning(data: bytes, text: str, path: str) -> bool:
    from kmerge_git.merge.verify.proof import same_documents

    try:
        theirs = split(Source(data, path)).documents
        return same_documents(theirs, split(Source.of(text)).documents)
    except KmergeError:
        return False


def _text(merged: Merged, spelled: Callable[..., str]) -> str:
    parts = [spelled(merged.prologue, "")]
    for resource in merged.resources:
        text = spelled(resource.pieces, resource.name)
        parts += [resource.opening, resource.elided.restored(text) if resource.elided else text]
    return "".join(parts) + merged.tail
