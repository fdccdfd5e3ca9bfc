"""Stacked bars as inline SVG: one bar a row, its parts labelled where they are wide enough."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

_WIDTH = 900
_LABEL = 90
_BAR = 34
_STEP = 52


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar; `tone` is a class of the page's style."""

    words: str
    count: int
    tone: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar with its name."""

    name: str
    parts: tuple[Part, ...]


def chart(title: str, bars: tuple[Bar, ...]) -> str:
    """The bars to one scale, with a legend of the parts that occur."""
    scale = max((sum(part.count for part in bar.parts) for bar in bars), default=0)
    if not scale:
        return ""
    height = _STEP * (len(bars) - 1) + _BAR
    drawn = "".join(_bar(bar, index * _STEP, scale) for index, bar in enumerate(bars))
    words = "; ".join(f"{bar.name}: {_spoken(bar)}" for bar in bars)
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {_WIDTH} {height}" '
        f'role="img" aria-label="{escape(words)}">{drawn}</svg>{_legend(bars)}</figure>'
    )


def _spoken(bar: Bar) -> str:
    return ", ".join(f"{part.count} {part.words}" for part in bar.parts if part.count)


def _bar(bar: Bar, top: int, scale: int) -> str:
    middle = top + _BAR / 2 + 5
    out = [f'<text class="name" x="0" y="{middle:.0f}">{escape(bar.name)}</text>']
    left, room = float(_LABEL), _WIDTH - _LABEL
    for part in bar.parts:
        width = room * part.count / scale
        if not part.count:
            continue
        title = f"<title>{part.count} {escape(part.words)}</title>"
        out.append(
            f'<rect class="{part.tone}" x="{left:.1f}" y="{top}" width="{max(width, 1.5):.1f}" '
            f'height="{_BAR}">{title}</rect>'
        )
        if width > 9 * len(str(part.count)) + 8:
            out.append(
                f'<text class="count" x="{left + width / 2:.1f}" y="{middle:.0f}">'
                f"{part.count}</text>"
            )
        left += width
    return "".join(out)


def _legend(bars: tuple[Bar, ...]) -> str:
    shown = dict.fromkeys((p.tone, p.words) for bar in bars for p in bar.parts if p.count)
    items = "".join(f'<li><i class="{tone}"></i>{escape(words)}</li>' for tone, words in shown)
    return f'<ul class="legend">{items}</ul>'
