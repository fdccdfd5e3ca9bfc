"""Every decision of a merge with its three values: for those who ask why it came out so.

The journal of a walk says what the rules were asked. Here the versions are laid beside the result
once more, so that what nobody had to decide is told as well, and what stands in the text is told,
not what was planned.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.kube import fieldpath
from kmerge_git.kube.lookup import found_at
from kmerge_git.merge.account.places import told
from kmerge_git.merge.account.resources import differing
from kmerge_git.merge.inwords import of_kyaml
from kmerge_git.merge.pairing import name_of
from kmerge_git.merge.three import Three, whose
from kmerge_git.outcome import Decision
from kmerge_git.text.markers import marker_size_for, resolve
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split, split_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.account.places import Difference, Ends
    from kmerge_git.merge.decide.rules import Rules
    from kmerge_git.merge.journal import Note
    from kmerge_git.outcome import Options, Outcome
    from kmerge_git.tree.documents import Stream
    from kmerge_git.tree.nodes import Node

    Place = tuple[str, Path]

# what a note is for that says more than that one side changed something
_TELLING = ("12", "13")


def explained(
    rules: Rules,
    texts: Three[bytes],
    outcome: Outcome,
    notes: Iterable[tuple[str, Note]],
    options: Options,
) -> tuple[Decision, ...]:
    """What came of every place at which the versions differ; nothing for what has no fields."""
    try:
        sources = texts.map(lambda data: Source(data, options.path))
        base = split(sources.base)
        streams = Three(base, split_like(sources.ours, base), split_like(sources.theirs, base))
        ends = _ends(outcome, sources, options)
        found = [*differing(rules, streams, ends, options.path)]
    except (KmergeError, RecursionError):
        return ()
    known = {(resource, note.path): note for resource, note in notes}
    made = [_decision(d, _note(known, d), outcome, options) for d in found]
    told_of = {(d.resource, d.path) for d in found if d.kind != "comment"}
    rest = [
        (place, note)
        for place, note in known.items()
        if place not in told_of and (_says_more(note) or options.rules == "kyaml")
    ]
    made += _more(rest, told_of, streams)
    if not made and not texts.base == texts.ours == texts.theirs:
        side = whose(texts) or "conflict"
        is_alike = texts.ours == texts.theirs
        made.append(Decision("", "", "layout", "both" if is_alike else side, "14"))
    return tuple(made)


def _ends(outcome: Outcome, sources: Three[Source], options: Options) -> Ends[Stream]:
    """The result, decided for either side where it has conflicts; None: it cannot be read."""
    try:
        made = Source(outcome.text, options.path)
        if outcome.clean:
            stream = split(made)
            _ = stream.roots
            return stream, stream
        size = marker_size_for((source.text for source in sources.each()), options.marker_size)
        sides = (Source.of(resolve(made.text, side, size)) for side in ("ours", "theirs"))
        first, second = (split(source) for source in sides)
        _ = first.roots, second.roots
    except KmergeError:
        return None
    return first, second


def _decision(
    difference: Difference, note: Note | None, outcome: Outcome, options: Options
) -> Decision:
    what, side, rule = difference.what, difference.side, difference.rule
    if options.rules == "kyaml":
        rule = of_kyaml(what, side, difference.kind)
    elif side == "both" and " " in what and "alike" not in what and outcome.method == "lines":
        rule = "15"
    if note is not None and (_says_more(note) or options.rules == "kyaml"):
        what = note.what
        rule = rule if note.side == "conflict" else note.rule
        side = note.side if side not in ("ours", "theirs") else side
    path, values = fieldpath.show(difference.path), difference.values
    return Decision(
        difference.resource, path, what, side, rule, values.ours, values.theirs, values.base
    )


def _note(known: Mapping[Place, Note], of: Difference) -> Note | None:
    """What the rules said of a place; what they said of a resource is not about its comments."""
    return known.get((of.resource, of.path)) if of.kind != "comment" else None


def _says_more(note: Note) -> bool:
    return note.side == "conflict" or note.rule.startswith(_TELLING)


def _more(
    notes: Iterable[tuple[Place, Note]], told_of: set[Place], streams: Three[Stream]
) -> Iterable[Decision]:
    """The notes of other places: what a policy, a favoured side or a null did there."""
    for (resource, path), note in notes:
        is_told = any(name == resource and _are_in_line(path, other) for name, other in told_of)
        is_whole = not path and note.side == "conflict"
        if is_told and not (is_whole or note.rule.startswith(_TELLING) or "lost" in note.rule):
            continue
        values = told(streams.map(lambda s, r=resource, p=path: _value(s, r, p)))  # type: ignore[misc]
        shown = fieldpath.show(path)
        yield Decision(
            resource,
            shown,
            note.what,
            note.side,
            note.rule,
            values.ours,
            values.theirs,
            values.base,
        )


def _are_in_line(one: Path, other: Path) -> bool:
    """Whether one place is inside of the other."""
    short = min(len(one), len(other))
    return one[:short] == other[:short]


def _value(stream: Stream, resource: str, path: Path) -> Node | None:
    documents = [d for d in stream.documents if name_of(d) == resource]
    return found_at(documents[0].root, path) if len(documents) == 1 else None
