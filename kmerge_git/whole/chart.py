"""Stacked bars as inline SVG: one bar a row, its parts labelled where they are wide enough."""

from __future__ import annotations

from html import escape

_WIDTH = 900
_LABEL = 90
_BAR = 34
_STEP = 52


# Words, a count and a tone, which is a class of the page's style; bars by their names.
Parts = tuple[tuple[str, int, str], ...]
Bars = dict[str, Parts]


def chart(title: str, bars: Bars) -> str:
    """The bars to one scale, with a legend of the parts that occur."""
    scale = max(sum(count for _, count, _ in parts) for parts in bars.values())
    if not scale:
        return ""
    height = _STEP * (len(bars) - 1) + _BAR
    drawn = "".join(_bar(*bar, index * _STEP, scale) for index, bar in enumerate(bars.items()))
    words = "; ".join(f"{name}: {_spoken(parts)}" for name, parts in bars.items())
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {_WIDTH} {height}" '
        f'role="img" aria-label="{escape(words)}">{drawn}</svg>{_legend(bars)}</figure>'
    )


def _spoken(parts: Parts) -> str:
    return ", ".join(f"{count} {words}" for words, count, _ in parts if count)


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
