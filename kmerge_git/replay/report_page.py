"""Write the report of a replay as one HTML page without scripts or external files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from html import escape
from itertools import zip_longest

from kmerge_git import __version__
from kmerge_git.replay.past_merges import Replayed, ReplayedTexts, lines_of
from kmerge_git.replay.policy_trials import attribute_lines, summary_of
from kmerge_git.replay.tally import COUNTS, RemainingHere, Tally, left_out, replayed, times
from kmerge_git.visible import visible

_FEW = 3  # the places that are shown for each cause
_MOST_SHOWN = 200  # rows of a section; nobody reads a longer page

TextsOf = Callable[[Replayed], ReplayedTexts]


def page(tally: Tally, name: str, scope: str, texts_of: TextsOf) -> Iterator[str]:
    """Yield the parts of the page, so that only one text is in memory at a time.

    `name` is the name of the repository, and `scope` is the range of commits that was given, or ''.
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
    yield _squashed(tally)
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
    was = "was" if sum(tally.kinds.values()) == 1 else "were"
    report = tally.as_json()
    notes = [f"{replayed(report)} {was} replayed{where}"]
    notes += [*left_out(report), times(report)]
    more = "".join(f"<p class='lead'>{_shown(note)}</p>" for note in tally.notes)
    return f"<h1>{_shown(name)}</h1><p class='lead'>{'; '.join(notes)}.</p>{more}"


def _cards(tally: Tally) -> str:
    counts = tally.counts
    same = counts["resolved_same_bytes"] + counts["resolved_same_meaning"]
    resolved = _percent(counts["resolved"], counts["git_conflicts"])
    agreed = _percent(same, counts["resolved"])
    followed = counts["followed"]
    moved = f" ({followed} with moved resources: `kmerge resolve` merges them)" if followed else ""
    cards = (
        (f"{counts['files']}", COUNTS["files"], ""),
        (f"{counts['git_conflicts']}", COUNTS["git_conflicts"], "bad"),
        (resolved, f"of them resolved by kmerge ({counts['resolved']})", "good"),
        (agreed, f"of these have the committed values ({same})", "good"),
        (f"{counts['git_broken']}", COUNTS["git_broken"], "warn"),
        (f"{counts['new_conflicts']}", COUNTS["new_conflicts"], "warn"),
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
        ("resolved field by field", resolved, "t-resolved"),
        ("conflict", counts["still_conflicts"] + counts["new_conflicts"], "t-conflict"),
    )
    people = (
        ("the same bytes", counts["resolved_same_bytes"], "t-same"),
        ("the same values", counts["resolved_same_meaning"], "t-clean"),
        ("a different order", counts["resolved_other_order"], "t-order"),
        ("different values", counts["resolved_different"], "t-different"),
        ("no file to compare", counts["resolved_unknown"], "t-unknown"),
    )
    return (
        "<section><h2>Every merge</h2>"
        + chart("The same merges, by git and by kmerge", {"git": git, "kmerge": kmerge})
        + chart("Conflicts that only kmerge resolves, compared with the commit", {"commit": people})
        + "</section>"
    )


def _squashed(tally: Tally) -> str:
    """Return the section about squash merges, which are in no other count of the page."""
    rows = "".join(
        f"<tr><td>{count}</td><td>{COUNTS[name]}</td></tr>"
        for name, count in tally.squashed.items()
        if count
    )
    return (
        f"<section><h2>Squash merges <span>{tally.kinds['squash merge']}</span></h2>"
        "<p>The server made these merges, so git had no conflict. No other count includes them.</p>"
        f'<div class="scroll"><table class="list">{rows}</table></div></section>'
        if rows
        else ""
    )


def _proposals(tally: Tally, scope: str) -> str:
    """Return the section about proposed policies, with the lines to paste."""
    proposals = [trial.as_json() for trial in tally.proposals]
    if not proposals:
        return ""
    scope = f" {scope}" if scope else ""
    rows = "".join(
        f"<tr><td><b>{proposal['standing']}</b>: {_shown(summary_of(proposal))}<br>"
        f"<code>{_shown(proposal['config'])}</code><br>"
        f"<code>{_shown(proposal['command'] + scope)}</code></td></tr>"
        for proposal in proposals
    )
    lines = "\n".join(map(_shown, attribute_lines(tally.proposals)))
    return (
        "<section><h2>Policies that agree with past commits "
        f"<span>{len(proposals)}</span></h2>"
        "<p>Each resolves conflicts that git and kmerge leave. <b>safe here</b>: at least nine of "
        "ten results are as committed, in at least five merges by two authors. "
        "<b>saves work</b>: fewer results are as committed. None is enabled. To enable one in your "
        "clone, run its command; to enable all for everybody, add the lines "
        "to <code>.gitattributes</code> (the last match counts).</p>"
        f'<div class="scroll"><table class="list">{rows}</table></div><pre>{lines}</pre></section>'
    )


def _left(tally: Tally) -> str:
    """Return the section about conflicts that both git and kmerge leave, by cause and field."""
    groups = tally.left()
    if not groups:
        return ""
    rows = "".join(
        f"<tr><td>{len(files)}</td><td>{_shown(cause)}</td><td>{_shown(field)}</td>"
        f"<td>{_shown(_places(files))}</td></tr>"
        for cause, field, files in groups[:_MOST_SHOWN]
    )
    rest = len(groups) - _MOST_SHOWN
    more = f"<p class='none'>{rest} more groups are not shown.</p>" if rest > 0 else ""
    total = sum(len(files) for _, _, files in groups)
    return (
        f"<section><h2>Conflicts that git and kmerge leave <span>{total}</span></h2>"
        f'<div class="scroll"><table class="list">{rows}</table></div>{more}</section>'
    )


def _places(conflicts: Sequence[RemainingHere]) -> str:
    """Return the places of the first few conflicts, and how many other conflicts there are."""
    places = dict.fromkeys(f"{file.commit[:10]} {file.path}" for file, _ in conflicts)
    more = f" and {len(places) - _FEW} more" if len(places) > _FEW else ""
    return ", ".join([*places][:_FEW]) + more


def _disagreements(tally: Tally, scope: str, texts_of: TextsOf) -> Iterator[str]:
    files = tally.disagreements
    yield f"<section><h2>Disagreements <span>{len(files)}</span></h2>"
    yield (
        "<p>kmerge merged these files without a conflict, but the commit has other values. This is "
        "not necessarily an error of kmerge: about half of all resolutions keep one side "
        "unchanged, and some people change more than the conflict.</p>"
    )
    if not files:
        yield "<p class='none'>None.</p>"
    scope = f" {scope}" if scope else ""
    for number, file in enumerate(files[:_MOST_SHOWN], 1):
        versions = texts_of(file).by_name
        command = f"<code>kmerge replay{_shown(scope)} --show {number}</code>"
        damage = f", but {'; '.join(file.git_damage)}" if file.git_damage else ""
        git = f"clean{damage}" if file.git_clean else "a conflict"
        words = f"Git: {_shown(git)}. {command}"
        yield _case(number, file, words, is_open=number <= 3)
        yield _pair(versions, "kmerge", "people")
        yield "<details class='sides'><summary>changes of each side</summary>"
        yield _pair(versions, "base", "ours")
        yield _pair(versions, "base", "theirs")
        yield "</details></details>"
    if len(files) > _MOST_SHOWN:
        yield f"<p class='none'>{len(files) - _MOST_SHOWN} more are not shown.</p>"
    yield "</section>"


def _damaged(tally: Tally, texts_of: TextsOf) -> Iterator[str]:
    if not tally.broken:
        return
    yield f"<section><h2>Broken results of git <span>{len(tally.broken)}</span></h2>"
    for file in tally.broken[:_MOST_SHOWN]:
        damage = "; ".join(file.git_damage)
        went = "committed without a fix" if file.people_damage else "fixed before the commit"
        yield _case(0, file, f"{_shown(damage)} ({went})", is_open=False)
        texts = texts_of(file)
        if texts.outcome.clean:
            yield _pair(texts.by_name, "kmerge", "people")
        else:
            places = ", ".join(conflict.place for conflict in texts.outcome.conflicts)
            yield f"<p class='note'>kmerge reports a conflict: {_shown(places)}</p>"
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
        "<section><h2>Only kmerge leaves a conflict "
        f"<span>{len(tally.new_conflicts)}</span></h2>"
        f'<div class="scroll"><table class="list">{rows}</table></div></section>'
    )


def _case(number: int, file: Replayed, words: str, *, is_open: bool) -> str:
    badge = f'<b class="number">{number}</b>' if number else ""
    return (
        f'<details class="case"{" open" if is_open else ""}><summary>{badge}'
        f"<strong>{_shown(file.path)}</strong>"
        f"<small>{file.commit[:10]} {_shown(file.subject)}</small></summary><p>{words}</p>"
    )


_AROUND = 3
_MOST_ROWS = 160
_MOST_LINES = 6000  # difflib is quadratic, so the page does not compare longer texts


def _pair(versions: dict[str, bytes], left: str, right: str) -> str:
    return table(versions[left], versions[right], (left, right))


def table(left: bytes, right: bytes, heads: tuple[str, str]) -> str:
    """Return a table of two texts side by side; skip equal lines far from any difference."""
    a, b = lines_of(left), lines_of(right)
    if max(len(a), len(b)) > _MOST_LINES:
        return f'<p class="note">Texts of {len(a)} and {len(b)} lines are too long to show.</p>'
    rows = list(_rows(a, b))
    body = "".join(rows[:_MOST_ROWS])
    if len(rows) > _MOST_ROWS:
        body += _gap(f"{len(rows) - _MOST_ROWS} more lines")
    head = "".join(f'<th colspan="2">{escape(word)}</th>' for word in heads)
    return (
        '<div class="scroll"><table class="diff"><colgroup><col class="n"><col><col class="n">'
        f"<col></colgroup><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _rows(a: list[str], b: list[str]) -> Iterator[str]:
    groups = SequenceMatcher(None, a, b, autojunk=False).get_grouped_opcodes(_AROUND)
    for number, group in enumerate(groups):
        if number:
            yield _gap("⋯")
        for tag, a_start, a_end, b_start, b_end in group:
            for at, bt in zip_longest(range(a_start, a_end), range(b_start, b_end)):
                one_side = "left" if bt is None else "right" if at is None else "changed"
                kind = "same" if tag == "equal" else one_side
                yield f'<tr class="{kind}">{_cells(a, at)}{_cells(b, bt)}</tr>'


def _cells(text: list[str], line: int | None) -> str:
    """Return the table cells for a line number and its line; return empty cells for None."""
    if line is None:
        return '<td class="n"></td><td></td>'
    return f'<td class="n">{line + 1}</td><td>{escape(visible(text[line]))}</td>'


def _gap(text: str) -> str:
    return f'<tr class="gap"><td colspan="4">{escape(text)}</td></tr>'


# -- stacked bars as SVG: one bar in each row, with labels that fit

_WIDTH = 900
_LABEL = 90
_BAR = 34
_STEP = 52

# A part of a bar has words, a count and a CSS class; `Bars` holds the parts of each named bar.
Parts = tuple[tuple[str, int, str], ...]
Bars = dict[str, Parts]


def chart(title: str, bars: Bars) -> str:
    """Return a bar chart as SVG, with a legend for the parts that occur."""
    scale = max(sum(count for _, count, _ in parts) for parts in bars.values())
    if not scale:
        return ""
    height = _STEP * (len(bars) - 1) + _BAR
    drawn = "".join(_bar(*bar, index * _STEP, scale) for index, bar in enumerate(bars.items()))
    words = "; ".join(
        f"{name}: {', '.join(f'{count} {words}' for words, count, _ in parts if count)}"
        for name, parts in bars.items()
    )
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {_WIDTH} {height}" '
        f'role="img" aria-label="{escape(words)}">{drawn}</svg>{_legend(bars)}</figure>'
    )


def _bar(name: str, parts: Parts, top: int, scale: int) -> str:
    middle = top + _BAR / 2 + 5
    out = [f'<text class="name" x="0" y="{middle:.0f}">{escape(name)}</text>']
    left, room = float(_LABEL), _WIDTH - _LABEL
    for words, count, tone in parts:
        width = room * count / scale
        if not count:
            continue
        title = f"<title>{count} {escape(words)}</title>"
        out.append(
            f'<rect class="{tone}" x="{left:.1f}" y="{top}" width="{max(width, 1.5):.1f}" '
            f'height="{_BAR}">{title}</rect>'
        )
        if width > 9 * len(str(count)) + 8:
            out.append(
                f'<text class="count" x="{left + width / 2:.1f}" y="{middle:.0f}">{count}</text>'
            )
        left += width
    return "".join(out)


def _legend(bars: Bars) -> str:
    parts = (part for parts in bars.values() for part in parts)
    shown = dict.fromkeys((tone, words) for words, count, tone in parts if count)
    items = "".join(f'<li><i class="{tone}"></i>{escape(words)}</li>' for tone, words in shown)
    return f'<ul class="legend">{items}</ul>'


STYLE = """
:root{--bg:#f6f7f9;--card:#fff;--ink:#1c2430;--dim:#667085;--line:#dfe3ea;--good:#1a7f4b;
--bad:#c0362c;--warn:#b26a00;--clean:#7f9fbe;--resolved:#2f9e69;--conflict:#d9594c;
--broken:#8e44ad;--same:#2f9e69;--order:#e3b23c;--different:#e0803a;--unknown:#aab2bd;
--del:#fde8e6;--add:#e3f5ea;--gap:#eef1f5}
@media (prefers-color-scheme:dark){:root{--bg:#12161c;--card:#1b2129;--ink:#e4e8ee;--dim:#98a2b3;
--line:#303844;--good:#4cc38a;--bad:#f0776b;--warn:#e6a23c;--clean:#4d6f91;--resolved:#2f9e69;
--del:#4a2422;--add:#1d3d2b;--gap:#232b36}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:40px 24px 64px}
h1{margin:0;font-size:30px;line-height:1.2;overflow-wrap:anywhere}
h2{margin:0 0 12px;font-size:19px}
h2 span{margin-left:6px;padding:1px 9px;border-radius:10px;background:var(--gap);
font-size:14px;font-weight:500;color:var(--dim)}
.lead{margin:8px 0 28px;color:var(--dim)}
code{font:13px/1.4 ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace}
.cards{display:grid;grid-template-columns:repeat(3,1fr);gap:14px;margin:0 0 28px;padding:0;
list-style:none}
.cards li{padding:16px 18px;background:var(--card);border:1px solid var(--line);
border-radius:10px;color:var(--dim)}
.cards b{display:block;color:var(--ink);font-size:30px;line-height:1.15;font-weight:650}
.cards .good b{color:var(--good)}.cards .bad b{color:var(--bad)}.cards .warn b{color:var(--warn)}
section{margin:0 0 28px;padding:20px 22px;background:var(--card);border:1px solid var(--line);
border-radius:10px}
figure{margin:0 0 22px}figure:last-child{margin:0}
figcaption{margin:0 0 10px;color:var(--dim)}
svg{display:block;width:100%;height:auto}
svg .name{fill:var(--ink);font-size:15px;font-weight:600}
svg .count{fill:#fff;font-size:14px;font-weight:600;text-anchor:middle}
.t-clean{fill:var(--clean);background:var(--clean)}
.t-resolved{fill:var(--resolved);background:var(--resolved)}
.t-conflict{fill:var(--conflict);background:var(--conflict)}
.t-broken{fill:var(--broken);background:var(--broken)}
.t-same{fill:var(--same);background:var(--same)}
.t-order{fill:var(--order);background:var(--order)}
.t-different{fill:var(--different);background:var(--different)}
.t-unknown{fill:var(--unknown);background:var(--unknown)}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:10px 0 0 90px;padding:0;list-style:none;
color:var(--dim);font-size:13.5px}
.legend i{display:inline-block;width:11px;height:11px;margin-right:6px;border-radius:3px}
.case{margin:12px 0 0;border:1px solid var(--line);border-radius:8px;overflow:hidden}
summary{cursor:pointer}
.case>summary{padding:9px 14px;background:var(--gap);overflow-wrap:anywhere}
.case>p{margin:10px 14px}
.case small{display:block;margin-left:0;color:var(--dim)}
.number{margin-right:8px;padding:1px 8px;border-radius:9px;background:var(--card);
font-size:13px}
.flag{padding:1px 7px;border-radius:9px;background:var(--order);color:#222;font-size:12px}
.sides{margin:10px 14px 12px;color:var(--dim)}
.sides .scroll{margin:8px 0 0;border:1px solid var(--line)}
.scroll{overflow-x:auto}
.diff{width:100%;border-collapse:collapse;table-layout:fixed;color:var(--ink);
font:12.5px/1.55 ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace}
.diff col.n{width:46px}
.diff th{padding:5px 10px;border-top:1px solid var(--line);border-bottom:1px solid var(--line);
text-align:left;font-weight:600;color:var(--dim)}
.diff td{padding:0 10px;white-space:pre-wrap;overflow-wrap:anywhere;vertical-align:top}
.diff td.n{padding:0 8px 0 0;text-align:right;color:var(--dim);user-select:none}
.diff td:nth-child(3),.diff th:nth-child(2){border-left:1px solid var(--line)}
.changed td:nth-child(-n+2),.left td:nth-child(-n+2){background:var(--del)}
.changed td:nth-child(n+3),.right td:nth-child(n+3){background:var(--add)}
.left td:nth-child(n+3),.right td:nth-child(-n+2){background:var(--gap)}
.gap td{background:var(--gap);text-align:center;color:var(--dim)}
.list{width:100%;border-collapse:collapse}
.list td{padding:5px 14px 5px 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
pre{margin:12px 0 0;padding:10px 14px;background:var(--gap);border-radius:8px;overflow-x:auto}
.none,.note{color:var(--dim)}.note{padding:0 14px}
footer{color:var(--dim);font-size:13px}
@media (max-width:760px){.cards{grid-template-columns:repeat(2,1fr)}}
"""
