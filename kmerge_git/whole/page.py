"""The report of a replay as one self-contained HTML page: no script, nothing to fetch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape

from kmerge_git import __version__
from kmerge_git.visible import visible
from kmerge_git.whole.chart import chart
from kmerge_git.whole.proposing import attribute_lines, notes_on
from kmerge_git.whole.replaying import Replayed, ReplayedTexts
from kmerge_git.whole.sidebyside import table
from kmerge_git.whole.style import STYLE
from kmerge_git.whole.tally import RemainingHere, Tally

_FEW = 3  # places of a cause
_MOST_SHOWN = 200  # disagreements with their texts; more make no page that anybody reads

TextsOf = Callable[[Replayed], ReplayedTexts]


def page(tally: Tally, name: str, scope: str, texts_of: TextsOf) -> Iterator[str]:
    """The parts of the page, one after the other, so that no more than one text is in memory.

    `name` is the repository's, `scope` the range that was asked for, or nothing.
    """
    title = f"kmerge replay: {name}"
    yield (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">"
        f"<title>{_shown(title)}</title><style>{STYLE}</style></head><body><main>"
    )
    yield _header(tally, name, scope)
    yield _cards(tally)
    yield _charts(tally)
    yield _proposals(tally, scope)
    yield _left(tally)
    yield from _disagreements(tally, scope, texts_of)
    yield from _damaged(tally, texts_of)
    yield _new_conflicts(tally)
    yield f"<footer>kmerge {_shown(__version__)}</footer></main></body></html>\n"


def _shown(text: str) -> str:
    return escape(visible(text))


def _header(tally: Tally, name: str, scope: str) -> str:
    where = f" (<code>{_shown(scope)}</code>)" if scope else ""
    was = "was" if tally.merges + tally.picks + tally.reverts == 1 else "were"
    notes = [f"{tally.replayed()} of the past {was} made again{where}"]
    if tally.criss_cross:
        notes.append(f"{tally.criss_cross} had several merge bases, the first was taken")
    notes += [*tally.left_out(), tally.times()]
    more = "".join(f"<p class='lead'>{_shown(note)}</p>" for note in tally.notes)
    return f"<h1>{_shown(name)}</h1><p class='lead'>{'; '.join(notes)}.</p>{more}"


def _cards(tally: Tally) -> str:
    counts = tally.counts
    same = counts["resolved_same_bytes"] + counts["resolved_same_meaning"]
    resolved = _percent(counts["resolved"], counts["git_conflicts"])
    agreed = _percent(same, counts["resolved"])
    followed = counts["followed"]
    moved = f" ({followed} of them moved: `kmerge solve` follows)" if followed else ""
    cards = (
        (f"{counts['files']}", "manifests changed on both sides", ""),
        (f"{counts['git_conflicts']}", "conflict under git", "bad"),
        (resolved, f"of them resolved by kmerge ({counts['resolved']})", "good"),
        (agreed, f"of these mean what people committed ({same})", "good"),
        (f"{counts['git_broken']}", "clean under git, but broken", "warn"),
        (f"{counts['new_conflicts']}", "clean under git, a conflict under kmerge", "warn"),
        (f"{counts['deleted']}", f"deleted on one side, changed on the other{moved}", ""),
    )
    items = "".join(
        f'<li class="{tone if number not in ("0", "–") else ""}"><b>{number}</b>{words}</li>'
        for number, words, tone in cards
    )
    return f'<ul class="cards">{items}</ul>'


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else "–"


def _charts(tally: Tally) -> str:
    counts = tally.counts
    conflicts, resolved = counts["git_conflicts"], counts["resolved"]
    clean = counts["files"] - conflicts
    broken, mended = counts["git_broken"], counts["mended"]
    git = (
        ("clean", clean - broken, "t-clean"),
        ("clean, but broken", broken, "t-broken"),
        ("conflict", conflicts, "t-conflict"),
    )
    kmerge = (
        ("clean", clean - counts["new_conflicts"] - (broken - mended), "t-clean"),
        ("clean, but broken", broken - mended, "t-broken"),
        ("resolved by structure", resolved, "t-resolved"),
        ("conflict", counts["still_conflicts"] + counts["new_conflicts"], "t-conflict"),
    )
    people = (
        ("the same bytes", counts["resolved_same_bytes"], "t-same"),
        ("the same meaning", counts["resolved_same_meaning"], "t-clean"),
        ("another order", counts["resolved_other_order"], "t-order"),
        ("something else", counts["resolved_different"], "t-different"),
        ("no file to compare", counts["resolved_unknown"], "t-unknown"),
    )
    return (
        "<section><h2>Every merge</h2>"
        + chart("The same merges under git and under kmerge", {"git": git, "kmerge": kmerge})
        + chart("What people committed where only kmerge resolves the conflict", {"people": people})
        + "</section>"
    )


def _proposals(tally: Tally, scope: str) -> str:
    """Policies with what they would have come to, and what there is to paste."""
    found = tally.proposals
    if not found:
        return ""
    scope = f" {scope}" if scope else ""
    rows = "".join(
        f"<tr><td>{_shown(trial.told)}<br><code>{_shown(trial.config)}</code><br>"
        f"<code>{_shown(f'{trial.command}{scope}')}</code></td></tr>"
        for trial in found
    )
    notes = "".join(f"<p>{_shown(note)}.</p>" for note in notes_on(found))
    lines = "\n".join(map(_shown, attribute_lines(found)))
    return (
        f"<section><h2>Policies that the past proves <span>{len(found)}</span></h2>"
        "<p>Each would have settled conflicts that are left under both, at least nine of ten as "
        "people did. None is switched on: paste its line in a clone, or all of them for everybody "
        f"into <code>.gitattributes</code>, where the last line for a file counts.</p>{notes}"
        f'<div class="scroll"><table class="list">{rows}</table></div><pre>{lines}</pre></section>'
    )


def _left(tally: Tally) -> str:
    """What is left under both, by cause and field, with where it is."""
    groups = tally.left()
    if not groups:
        return ""
    rows = "".join(
        f"<tr><td>{len(found)}</td><td>{_shown(cause)}</td><td>{_shown(field)}</td>"
        f"<td>{_shown(_places(found))}</td></tr>"
        for cause, field, found in groups[:_MOST_SHOWN]
    )
    rest = len(groups) - _MOST_SHOWN
    more = f"<p class='none'>{rest} more groups are not shown here.</p>" if rest > 0 else ""
    total = sum(len(found) for _, _, found in groups)
    return (
        f"<section><h2>Left under both <span>{total}</span></h2>"
        f'<div class="scroll"><table class="list">{rows}</table></div>{more}</section>'
    )


def _places(found: Sequence[RemainingHere]) -> str:
    """Where the first few are."""
    places = dict.fromkeys(f"{file.commit[:10]} {file.path}" for file, _ in found)
    more = f" and {len(places) - _FEW} more" if len(places) > _FEW else ""
    return ", ".join([*places][:_FEW]) + more


def _disagreements(tally: Tally, scope: str, texts_of: TextsOf) -> Iterator[str]:
    found = tally.disagreements
    yield f"<section><h2>Disagreements <span>{len(found)}</span></h2>"
    yield (
        "<p>Kmerge decided by itself, and people committed something that means something else. "
        "That is no verdict: about half of all resolutions take one side whole, and some people "
        "change more than the conflict.</p>"
    )
    if not found:
        yield "<p class='none'>None.</p>"
    scope = f" {scope}" if scope else ""
    for number, file in enumerate(found[:_MOST_SHOWN], 1):
        texts = texts_of(file)
        command = f"<code>kmerge replay{_shown(scope)} --show {number}</code>"
        words = f"Git: {_shown(_under_git(file))}. {command}"
        yield _case(number, file, words, is_open=number <= 3)
        yield table(texts.kmerge.text, texts.people, ("kmerge", "people"))
        yield "<details class='sides'><summary>what each side did</summary>"
        yield table(texts.base, texts.ours, ("base", "ours"))
        yield table(texts.base, texts.theirs, ("base", "theirs"))
        yield "</details></details>"
    if len(found) > _MOST_SHOWN:
        yield f"<p class='none'>{len(found) - _MOST_SHOWN} more are not shown here.</p>"
    yield "</section>"


def _under_git(file: Replayed) -> str:
    if not file.git_clean:
        return "a conflict"
    return f"clean, but {'; '.join(file.git_damage)}" if file.git_damage else "clean"


def _damaged(tally: Tally, texts_of: TextsOf) -> Iterator[str]:
    if not tally.broken:
        return
    yield f"<section><h2>Clean under git, but broken <span>{len(tally.broken)}</span></h2>"
    for file in tally.broken[:_MOST_SHOWN]:
        damage = "; ".join(file.git_damage)
        went = "committed as it was" if file.people_damage else "mended by people"
        yield _case(0, file, f"{_shown(damage)} ({went})", is_open=False)
        texts = texts_of(file)
        if texts.kmerge.clean:
            yield table(texts.kmerge.text, texts.people, ("kmerge", "people"))
        else:
            places = ", ".join(conflict.place for conflict in texts.kmerge.conflicts)
            yield f"<p class='note'>kmerge stops: {_shown(places)}</p>"
        yield "</details>"
    yield "</section>"


def _new_conflicts(tally: Tally) -> str:
    if not tally.new_conflicts:
        return ""
    rows = "".join(
        f"<tr><td><code>{file.commit[:10]}</code></td><td>{_shown(file.path)}</td>"
        f"<td>{_shown(', '.join(file.places[:4]))}</td></tr>"
        for file in tally.new_conflicts[:_MOST_SHOWN]
    )
    return (
        "<section><h2>Clean under git, a conflict under kmerge "
        f"<span>{len(tally.new_conflicts)}</span></h2>"
        f'<div class="scroll"><table class="list">{rows}</table></div></section>'
    )


def _case(number: int, file: Replayed, words: str, *, is_open: bool) -> str:
    flag = ' <span class="flag">criss-cross</span>' if file.criss_cross else ""
    badge = f'<b class="number">{number}</b>' if number else ""
    return (
        f'<details class="case"{" open" if is_open else ""}><summary>{badge}'
        f"<strong>{_shown(file.path)}</strong>{flag}"
        f"<small>{file.commit[:10]} {_shown(file.subject)}</small></summary><p>{words}</p>"
    )
