"""Merge one file; the functions follow the merge from top to bottom.

bytes -> trivial cases -> text -> documents -> guards -> nodes -> rules make a plan
      -> the plan becomes text -> a line merge, or git's own line merge if ours is uncertain
      -> the checks -> the better of the two results.

If the line merge is clean and means the same as the structural merge, the file gets the bytes of
the line merge. If the structural merge is clean and means something else, the file gets the
structural merge. If the structural merge has conflicts, the file gets a clean line merge that
passes every check. After any internal error the result is git's line merge, or a conflict if the
line merge would do damage.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unproved, Unsupported
from kmerge_git.merge import by_resource
from kmerge_git.merge.decide.git_rules import GitRules
from kmerge_git.merge.merged import conflicted, texts_of, to_bytes, whole_conflict
from kmerge_git.merge.plan import Journal, Why
from kmerge_git.merge.three import Three, agreed
from kmerge_git.merge.verify import line_damage, proof, referee, whole_file
from kmerge_git.merge.verify.edits_of_both import may_tear_comments, new_namesakes
from kmerge_git.merge.verify.line_opinion import Asked, needs_proof, opinion
from kmerge_git.outcome import GENERATED, SIDES, Conflict, Options, Outcome
from kmerge_git.system import GarbageStays
from kmerge_git.text.opaque_files import holds_seal
from kmerge_git.text.pieces import UNDECIDED, side_text, without_placeholders
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import YamlText, split_text
from kmerge_git.tree.oddities import has_control, refuse_oddities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.merge.decide.rules import Rules
    from kmerge_git.merge.merged import MergedDocument, MergedFile
    from kmerge_git.merge.plan import Doubts
    from kmerge_git.merge.verify.sites import Violation
    from kmerge_git.text.linemerge import LineMerge
    from kmerge_git.text.pieces import Hunk
    from kmerge_git.tree.documents import Stream

    StartLines = Callable[[str, int], LineMerge]

LINES_ARE_CLEAN = "git's line merge is clean"
MOST_CONFLICTS = 2000  # in a file: a person does not decide more, and writing more takes long


def merge(texts: Three[YamlText], options: Options, start: StartLines) -> Outcome:
    """Merge three texts; `start` starts git's line merge.

    It is given the side to favor, or '', and the size of the markers.
    """
    if options.define is not None:
        options.define()
    with GarbageStays():
        merged = _merged(texts, options, start)
    if options.generated and not options.virtual and (not merged.clean or merged.loses):
        return _kept(texts, options, GENERATED)
    return merged


def _merged(texts: Three[YamlText], options: Options, start: StartLines) -> Outcome:
    trivial = agreed(texts.map(lambda text: text.data))
    if trivial is not None:
        return Outcome(trivial, True, "same").made_of(texts, options)
    lines = Asked(start, texts, options.marker_size)
    if holds_seal(texts.ours.data, texts.theirs.data):
        from kmerge_git.merge.sealed import merged  # few files are encrypted

        return merged(texts, options, lines)
    return _ordinary(texts, options, lines)


def _ordinary(texts: Three[YamlText], options: Options, lines: Asked) -> Outcome:
    """Merge three texts that are all different."""
    try:
        merged = by_structure(texts, options, lines)
        if merged.clean and b"{{" in merged.text:
            result = YamlText(merged.text, options.path)
            if has_control(result.source.text):
                from kmerge_git.template.template_damage import refuse_damage  # only for templates

                refuse_damage(result, texts)
        return merged
    except KmergeError as error:
        if options.rules == "kyaml" and not (options.virtual or options.favor):
            outcome = _by_lines_of_kyaml(texts, options, error)
            if outcome is not None:
                return outcome
        return _by_lines(lines, texts, options, _told(error))
    except Exception as error:  # a bug must cost a conflict, not data
        return _by_lines(lines, texts, options, _internal(error))


def _internal(error: Exception) -> str:
    return f"internal error: {type(error).__name__}: {error}"


def _told(error: KmergeError) -> str:
    """Return the reason why a file is merged line by line, without the name of the file."""
    if "{{" in error.excerpt:
        return "a template, not YAML"
    return f"line {error.line}: {error.why}" if error.line else error.why


def by_structure(texts: Three[YamlText], options: Options, lines: Asked) -> Outcome:
    """Decide, judge the result, and decide again with a conflict wherever it is in doubt."""
    streams = by_resource.split_all(texts)
    refuse_unmergeable(streams, options.marker_size)
    rules = rules_for(options)
    doubts: Doubts = {}

    def count(conflicts: int) -> None:
        if conflicts > MOST_CONFLICTS and lines.result()[1]:
            raise Unsupported(_too_many())

    # a policy may answer all of them; `bool` does nothing
    ends = count if options.policy is None else bool
    while True:
        journal = Journal()
        merged = by_resource.merge(rules, streams, journal, options.path, doubts, ends)
        # the merge without a policy goes first: if it is clean, also by lines, no policy is asked
        is_asked = options.policy is not None and merged.hunks() and lines.result()[1] != 0
        if is_asked:
            by_resource.ask_policy(merged, options, rules, journal)
        better = _judged(merged, streams, options, lines, journal)
        is_left = isinstance(better, Outcome) and not better.clean and not is_asked
        if is_left and by_resource.ask_policy(merged, options, rules, journal):
            better = _judged(merged, streams, options, lines, journal)
        if isinstance(better, Outcome):
            if not better.clean and not options.virtual:
                better = _shorter(merged, better, streams, options, journal) or better
            return _finished(better, texts, options, journal)
        wider = referee.widened(doubts, better, merged)
        if wider is None:
            return _whole(streams, options, lines, referee.uncertain(better[0]))
        doubts = wider


def _judged(
    merged: MergedFile, streams: Three[Stream], options: Options, lines: Asked, journal: Journal
) -> Outcome | list[Violation]:
    """Return the better of the two merges, or the objections if neither is right."""
    try:
        return _better(merged, streams, options, lines, journal)
    except Unproved:
        if lines.result()[1]:
            raise  # git's conflicts, and the name of the document
        return _whole(streams, options, lines, Why.UNPROVED, journal)


def _finished(
    outcome: Outcome, texts: Three[YamlText], options: Options, journal: Journal
) -> Outcome:
    """Return the outcome with its text, and with its conflicts resolved to the favoured side.

    If that would damage the file, the conflicts stay.
    """
    if options.favor and outcome.open_merge is not None:
        data: bytes = outcome.open_merge.decided(options.favor)
        if not line_damage.breaks(YamlText(data, options.path), texts):
            journal.favor(options.favor, outcome.conflicts)
            outcome = Outcome(data, True, outcome.method, reason=outcome.reason)
    _ = outcome.text  # written here, where an error costs no more than a conflict
    return outcome.made_of(texts, options, journal)


def _shorter(
    merged: MergedFile, shown: Outcome, streams: Three[Stream], options: Options, journal: Journal
) -> Outcome | None:
    """Return the conflicts of the lines if all conflicts are doubts, and these are shorter."""
    causes = {hunk.why for _, hunk in merged.hunks()}
    are_doubts = all(why.startswith(Why.UNCERTAIN) or why == Why.COMMENT for why in causes)
    if shown.open_merge is None or not causes or not are_doubts:
        return None
    from kmerge_git.merge.finish import as_lines  # few merges are in doubt

    return as_lines.shorter(merged, shown, streams, options, journal.settled())


def _whole(
    streams: Three[Stream],
    options: Options,
    lines: Asked,
    why: str,
    journal: Journal | None = None,
) -> Outcome:
    """Return the file as one conflict, if git's line merge is clean as well.

    If git's line merge has conflicts, raise `Unsupported`, so that the file gets these conflicts.
    With a journal, git's line merge is taken if it passes every check.
    """
    by_lines, count = lines.result()
    if count:
        raise Unsupported(why)
    if journal is not None and referee.accepts(by_lines, streams, options, journal.settled()):
        return Outcome(by_lines.data, True, "lines", reason=LINES_ARE_CLEAN)
    return _one_conflict(streams.map(lambda stream: stream.source), options, why)


def _one_conflict(sources: Three[Source], options: Options, why: str) -> Outcome:
    whole = whole_conflict(sources.map(lambda source: source.text), why)
    outcome = _with_conflicts(whole, sources, options)
    _ = outcome.text
    return outcome


def _with_conflicts(merged: MergedFile, sources: Three[Source], options: Options) -> Outcome:
    """Return a merged file with markers around its conflicts.

    In an inner merge of a criss-cross, placeholders replace the conflicts.
    """
    if options.virtual:
        from kmerge_git.merge.placeholders import undecided  # few merges are inner merges

        return undecided(merged, sources)
    return conflicted(merged, sources, options)


def _kept(texts: Three[YamlText], options: Options, why: str) -> Outcome:
    """Return our version as the result, or one placeholder in an inner merge of a criss-cross."""
    data = texts.ours.data
    if options.virtual:
        from kmerge_git.merge.placeholders import nothing_decided

        data = nothing_decided(texts.map(lambda text: text.data))
    return Outcome(data, False, "kept", conflicts=(Conflict("", "", why),), reason=why)


def rules_for(options: Options) -> Rules:
    """Return the rule set that the options name."""
    if options.define is not None:
        options.define()
    if options.rules == "kyaml":
        from kmerge_git.merge.kyaml.three_way import KyamlRules

        return KyamlRules()
    return GitRules()


def _better(
    merged: MergedFile, streams: Three[Stream], options: Options, lines: Asked, journal: Journal
) -> Outcome | list[Violation]:
    """Return the better of the two merges.

    If neither merge is right, return the objections to the structural merge.
    """
    hunks = merged.hunks()
    if not hunks:
        return _clean(merged, streams, options, lines, journal)
    if len(hunks) > MOST_CONFLICTS:
        # a person does not look at so many one by one
        return _whole(streams, options, lines, _too_many(), journal)
    settled = journal.settled()
    read = proof.prove(merged, *SIDES)
    if not any(_is_beyond_lines(hunk) for _, hunk in hunks):
        by_lines, count = lines.result()
        if count == 0 and referee.accepts(by_lines, streams, options, settled):
            from kmerge_git.merge.decide.new_things import may_be_twice  # few lists are in conflict

            text = by_lines.source.text
            if not any(may_be_twice(document.plan, text) for document in merged.documents):
                return Outcome(by_lines.data, True, "lines", reason=LINES_ARE_CLEAN)
    objections = []
    if not merged.is_one_conflict:
        for side in SIDES:
            whole_file.prove(merged, side, streams)
        results = [split_text(merged.decided(side), options.path, streams.ours) for side in SIDES]
        objections = referee.objections(merged, results, read, streams, options, settled)
    sources = streams.map(lambda stream: stream.source)
    return objections or _with_conflicts(merged, sources, options)


def _too_many() -> str:
    return f"the file has more than {MOST_CONFLICTS:,} conflicts"


def _is_beyond_lines(hunk: Hunk) -> bool:
    """Return whether a conflict remains even if git's line merge is clean.

    A line merge would bring back entries that a side deleted, or put the edit of a deleted resource
    into a new resource with the same lines. If both sides replaced a placeholder, a line merge
    would treat the placeholder as their common base.
    """
    at = hunk.about
    is_gone = isinstance(at, Three) and at.base is not None and None in (at.ours, at.theirs)
    return is_gone or hunk.why in Why.FIRM or UNDECIDED in hunk.base


def _clean(
    merged: MergedFile, streams: Three[Stream], options: Options, lines: Asked, journal: Journal
) -> Outcome | list[Violation]:
    """Choose between the clean structural merge and git's line merge.

    Take git's bytes if they mean the same as the structural merge. Also take git's bytes if checks
    object to the structural merge and accept git's line merge.
    """
    text = merged.decided("ours")
    if options.rules == "kyaml" and "*" in text and "&" in text:
        from kmerge_git.merge.verify.alias_law import refuse_turned  # few files have aliases

        refuse_turned(text, options.path, streams)
    data = to_bytes(text, streams.map(lambda stream: stream.source))
    settled = journal.settled()
    by_lines, count, is_confirmed = _second_opinion(merged, streams, options, lines, text, data)
    read = proof.prove(merged, "ours") if not is_confirmed or needs_proof(merged) else []
    whole_file.prove(merged, "ours", streams)
    if is_confirmed:
        return Outcome(data, True, "structure")
    result = split_text(text, options.path, streams.ours)
    if count == 0:
        is_same = proof.same_meaning(by_lines, result)
        is_right = is_same or proof.same_but_for_order(by_lines, result)
        if is_right and referee.accepts(by_lines, streams, options, settled):
            reason = "the same result" if is_same else "another order that is also correct"
            return Outcome(by_lines.data, True, "lines", reason=f"git's line merge gives {reason}")
    if len(result.documents) != len(merged.documents):
        raise Unsupported("the merged file would not have the right number of documents")
    objections = referee.objections(merged, [result], read, streams, options, settled)
    if objections and count == 0 and referee.accepts(by_lines, streams, options, settled):
        reason = referee.uncertain(objections[0])
        return Outcome(by_lines.data, True, "lines", reason=reason)
    return objections or Outcome(data, True, "structure")


def _second_opinion(
    merged: MergedFile,
    streams: Three[Stream],
    options: Options,
    lines: Asked,
    text: str,
    data: bytes,
) -> tuple[YamlText, int, bool]:
    """Return a line merge, its number of conflicts, and whether it confirms the merge."""
    said = opinion(merged, streams)
    if said:  # git's line merge is needed only if our own line merge is unsure
        by_lines, count = YamlText(data, options.path), int(said == "clash")
        is_same = said == "agrees"
    else:
        by_lines, count = lines.result()
        is_same = count == 0 and by_lines.data == data
        is_same = is_same and referee.confirms(text, streams, options)
    if is_same and options.rules == "git":
        is_same = not any(map(_is_beyond_an_opinion, merged.documents))
    if is_same and options.rules == "git" and len(merged.documents) > 1:
        versions = [[d.content for d in stream.documents] for stream in streams.each()]
        made = [document.whole(side_text(document.pieces, "ours")) for document in merged.documents]
        is_same = not new_namesakes([*versions, made])
    return by_lines, count, is_same


def _is_beyond_an_opinion(document: MergedDocument) -> bool:
    """Return whether git's lines may turn an alias or tear a comment as the merge does."""
    texts = texts_of(document.at)
    there = [text for text in texts.each() if text]
    if any("*" in text for text in there):
        from kmerge_git.merge.verify.alias_law import may_turn  # few files have aliases

        if may_turn(there):
            return True
    if None in document.at.each() or not may_tear_comments(*texts.each()):
        return False
    from kmerge_git.merge.verify.torn_comments import torn  # few merges change many comments

    return bool(torn(*texts.each(), document.whole(side_text(document.pieces, "ours"))))


def _by_lines(lines: Asked, texts: Three[YamlText], options: Options, reason: str) -> Outcome:
    """Return git's line merge.

    If git fails or does damage, return a conflict around our version.
    """
    result, count = lines.result()
    if count < 0:
        return _left(texts, options, reason)
    if line_damage.mixes_encrypted(result.data, texts, lines.marker_size()):
        return _damaged(texts, options, reason)
    if options.rules == "git" and any(b"{{" in text.data for text in texts.each()):
        from kmerge_git.template.template_merge import merged  # only for templates

        try:
            by_blocks = merged(texts, options, (result, count), by_structure)
        except Exception as error:
            by_blocks = _internal(error)
        if isinstance(by_blocks, Outcome):
            return by_blocks
        reason = by_blocks or reason  # the template merge gives the more exact reason
    if count > 0 and options.favor and not options.virtual:  # an ancestor belongs to no side
        result, count = lines.favored(options.favor)
        if count < 0:
            return _left(texts, options, reason)
    damaged = _without_damage(result, texts, options, reason) if count == 0 else None
    if damaged is not None:
        return damaged
    if count > 0 and options.labels_so_far != options.labels:  # run again, with labels
        again, more = lines.again()
        result, count = (again, more) if more > 0 else (result, count)
    return _of_lines(result, count, texts, reason)


def _of_lines(result: YamlText, count: int, texts: Three[YamlText], reason: str) -> Outcome:
    data = result.data
    if UNDECIDED.encode() in texts.base.data:  # a base section may show a placeholder
        shown = without_placeholders(data.decode("utf-8", "surrogateescape"))
        data = shown.encode("utf-8", "surrogateescape")
    conflicts = tuple(Conflict("", "", "both sides changed the same lines") for _ in range(count))
    return Outcome(data, count == 0, "lines", conflicts=conflicts, reason=reason)


def _damaged(texts: Three[YamlText], options: Options, reason: str) -> Outcome:
    """Return a file that a line merge would damage as one conflict."""
    try:
        outcome = _one_conflict(texts.map(lambda text: text.source), options, Why.DAMAGE)
    except KmergeError:  # a version is not in UTF-8
        return _left(texts, options, reason)
    outcome.reason = reason
    return outcome


def _left(texts: Three[YamlText], options: Options, reason: str) -> Outcome:
    """Return the conflict of a file that git cannot merge by line; a binary file stays ours."""
    if options.virtual or any(b"\0" in text.data for text in texts.each()):
        return _kept(texts, options, reason)
    from kmerge_git.merge.sealed import whole  # git merges nearly all texts

    decoded = texts.map(lambda text: text.data.decode("utf-8", "surrogateescape"))
    conflicts: tuple[Conflict, ...] = (Conflict("", "", "both sides changed the same lines"),)
    return Outcome(whole(decoded, options), False, "lines", conflicts=conflicts, reason=reason)


def _without_damage(
    result: YamlText, texts: Three[YamlText], options: Options, reason: str
) -> Outcome | None:
    """Return a conflict in place of a damaged line merge, or None if there is no damage.

    In a template that favours a side, the conflict is decided for this side.
    """
    if line_damage.breaks(result, texts):
        return _damaged(texts, options, reason)
    if options.favor and options.rules == "git" and b"{{" in result.data:
        from kmerge_git.template.template_merge import looked_through  # only for templates

        try:
            return looked_through(result, texts, options)
        except Exception:  # no template, or an error that must not stop the merge
            return None
    return None


def _by_lines_of_kyaml(
    texts: Three[YamlText], options: Options, error: KmergeError
) -> Outcome | None:
    """Return the answer of kyaml's `merge3` for a text without fields, or None for other texts."""
    from kmerge_git.merge.kyaml.kyaml_merges import is_text, merge3_text

    versions = texts.map(lambda text: text.data)
    if not is_text(error, versions):
        return None
    try:
        result = merge3_text(versions, path=options.path)
    except Unsupported:  # git cannot merge the lines, and a conflict says so
        return None
    return Outcome(result.data, True, "lines", decisions=result.decisions, reason=_told(error))


def refuse_unmergeable(streams: Three[Stream], size: int) -> None:
    """Refuse files that must not be merged by field.

    An input with conflict markers comes from `git rerere`, or is an ancestor made by a criss-cross
    merge. Templates have no fields. A mapping whose keys are collections has no usable field names.
    """
    # a text that versions share is one object (see `split_like`), and is looked through once
    contents = {id(d.content): d.content for stream in streams.each() for d in stream.documents}
    if any("<<<<<<<" in content for content in contents.values()):
        from kmerge_git.text.markers import first_marker

        if any(first_marker(stream.source.text, min(size, 7)) >= 0 for stream in streams.each()):
            raise Unsupported("a version of the file contains conflict markers")
    refuse_oddities(*streams.each())
