"""List every decision of a merge with its three values.

The journal of a merge holds only the places that the rules had to decide. This module compares the
versions with the result to list all places, with the values as the files spell them.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.kube import fieldpath
from kmerge_git.kube.differing import found_at
from kmerge_git.merge.pairing import name_of
from kmerge_git.merge.plan import Journal
from kmerge_git.merge.rule_sentences import of_kyaml
from kmerge_git.merge.three import Three, whose
from kmerge_git.outcome import BY_BLOCKS, ORDER, SETTLED, Decision
from kmerge_git.pipeline import by_structure, rules_for
from kmerge_git.template.template_merge import without_favor
from kmerge_git.template.template_parser import templates
from kmerge_git.template.template_readings import ActionWords, WantedReadings, rendered
from kmerge_git.tree.documents import YamlText
from kmerge_git.verdict.files import FileComparison, ends_of
from kmerge_git.verdict.spelling import shown_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.plan import Note
    from kmerge_git.outcome import Options, Outcome
    from kmerge_git.tree.documents import Stream
    from kmerge_git.verdict.fields import Difference
    from kmerge_git.verdict.files import Results

    Place = tuple[str, Path]


# Notes of these rules say more than which side changed something.
_TELLING = (*SETTLED, ORDER)


def explained(outcome: Outcome) -> tuple[Decision, ...]:
    """Return a decision for every place at which the versions of a merge differ.

    If the files cannot be read as fields, return nothing.
    """
    if outcome.inputs is None:
        return ()
    versions, options = outcome.inputs
    texts: Three[YamlText] = versions.map(lambda data: YamlText(data, options.path))
    if outcome.reason == BY_BLOCKS:
        return _of_readings(texts, options)
    journal = outcome.journal if outcome.journal is not None else Journal()
    rules = rules_for(options)
    try:
        base = texts.base.stream
        streams = Three(base, texts.ours.stream_like(base), texts.theirs.stream_like(base))
        ends = _ends(outcome, texts, options)
        places = [*FileComparison(rules, options.path).differences(streams, ends)]
    except (KmergeError, RecursionError):
        return journal.unnoted
    known = {(resource, note.path): note for resource, note in journal.notes}
    decisions = [_decision(place, known, outcome, options) for place in places]
    listed = {(d.resource, d.path) for d in places if d.kind != "comment"}
    rest = [
        (place, note)
        for place, note in known.items()
        if place not in listed and (_says_more(note) or options.rules == "kyaml")
    ]
    decisions += _more(rest, listed, streams)
    data = texts.map(lambda text: text.data)
    if not decisions and not data.base == data.ours == data.theirs:
        side = "both" if data.ours == data.theirs else whose(data) or "conflict"
        decisions.append(Decision("", "", "layout", side, "14"))
    return (*decisions, *journal.unnoted)


def _ends(outcome: Outcome, texts: Three[YamlText], options: Options) -> Results:
    """Return the result twice: with all conflicts resolved to ours, and resolved to theirs."""
    result = YamlText(outcome.text, options.path)
    return ends_of(result, texts, options.marker_size, is_clean=outcome.clean)


def _decision(
    difference: Difference, known: dict[Place, Note], outcome: Outcome, options: Options
) -> Decision:
    place = difference.resource, difference.path
    # a note for a whole resource does not apply to its comments
    note = known.get(place) if difference.kind != "comment" else None
    what, side, rule = difference.what, difference.side, difference.rule
    if options.rules == "kyaml":
        rule = of_kyaml(what, side, difference.kind)
    elif side == "both" and " " in what and "identically" not in what and outcome.method == "lines":
        rule = "15"
    if note is not None and (_says_more(note) or options.rules == "kyaml"):
        what = note.what
        rule = rule if note.side == "conflict" else note.rule
        side = note.side if side not in ("ours", "theirs") else side
    return _with_values(place, what, side, rule, difference.values)


def _with_values(place: Place, what: str, side: str, rule: str, values: Three[str]) -> Decision:
    resource, path = place[0], fieldpath.show(place[1])
    return Decision(resource, path, what, side, rule, values.ours, values.theirs, values.base)


def _says_more(note: Note) -> bool:
    return note.side == "conflict" or note.rule.startswith(_TELLING)


def _more(
    notes: Iterable[tuple[Place, Note]], listed: set[Place], streams: Three[Stream]
) -> Iterable[Decision]:
    """Yield the decisions in notes about places that are not listed yet.

    At these places a policy, a favoured side or a null decided.
    """
    for (resource, path), note in notes:
        is_listed = any(name == resource and _are_in_line(path, other) for name, other in listed)
        is_whole = not path and note.side == "conflict"
        if is_listed and not (is_whole or note.rule.startswith(_TELLING) or "lost" in note.rule):
            continue
        named = ([d for d in s.documents if name_of(d) == resource] for s in streams.each())
        nodes = Three(*(found_at(d[0].root, path) if len(d) == 1 else None for d in named))
        values = shown_values(nodes)
        yield _with_values((resource, path), note.what, note.side, note.rule, values)


def _are_in_line(one: Path, other: Path) -> bool:
    """Return whether two places are the same, or one place is inside of the other place."""
    short = min(len(one), len(other))
    return one[:short] == other[:short]


# -- templates


def _of_readings(texts: Three[YamlText], options: Options) -> tuple[Decision, ...]:
    """Return the decisions of a merge of the readings, with the actions in place of the words."""
    at = templates(texts)
    structure = without_favor(by_structure, options)
    words = ActionWords(scopes=False)
    wanted = WantedReadings(*(version.parts for version in at.each()))
    wanted.names = wanted.names[:1]
    found = at.map(lambda one: {r.name: r.text for r in rendered(one.parts, words, wanted)})
    decisions: list[Decision] = []
    for name in dict.fromkeys(name for version in found.each() for name in version):
        versions = Three(*(YamlText(one.get(name, "").encode()) for one in found.each()))
        try:
            decisions += explained(structure(versions))
        except KmergeError:  # the reading has no fields
            continue
    # definitions and outputs are no fields, and a text without fields has decisions for comments
    return tuple([_in_actions(one, words) for one in decisions if one.resource or one.path])


def _in_actions(decision: Decision, words: ActionWords) -> Decision:
    shown = words.shown
    values = [
        "null, or the text that the template renders" if text == "null" else shown(text)
        for text in (decision.ours, decision.theirs, decision.base)
    ]
    place = shown(decision.resource), shown(decision.path), shown(decision.what)
    return Decision(*place, decision.side, decision.rule, *values)
