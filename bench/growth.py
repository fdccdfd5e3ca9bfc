"""How time and memory grow with the number of resources in a file, as a table and a plot."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from functools import partial
from math import ceil, floor, log10
from pathlib import Path

import texts
from rows import driver, git_merge_file, three_files
from timing import Spent, Tree, apart, interleaved, mebibytes, median

COUNTS = (1, 10, 100, 1_000, 10_000)
WAYS = {
    "one": "each resource changed by one side at most",
    "both": "the same resources changed by both sides",
    "git": "`git merge-file` of the latter",
}


@dataclass(frozen=True, slots=True)
class Point:
    """One size of the file, and what its merges took."""

    count: int
    size: int  # bytes
    spent: dict[str, list[Spent]]  # of each way

    def seconds(self, way: str) -> float:
        return median(spent.cpu for spent in self.spent[way])

    def peak(self, way: str) -> float:
        return max(spent.peak for spent in self.spent[way])


def growth(folder: Path, tree: Tree, rounds: int) -> list[Point]:
    """Time merges of files of each size, up to twenty resources changed by each side."""
    points = []
    for count in COUNTS:
        one, both = folder / f"one{count}", folder / f"both{count}"
        for place, is_both in ((one, False), (both, True)):
            make = partial(texts.services, count, both=is_both)
            apart(partial(three_files, make, place))
        commands = {
            "one": driver(tree, one),
            "both": driver(tree, both),
            "git": git_merge_file(tree, both),
        }
        spent = interleaved(commands.values(), rounds)
        found = {way: spent[command] for way, command in commands.items()}
        points.append(Point(count, (both / "O").stat().st_size, found))
    return points


def growth_table(points: list[Point]) -> str:
    """The points as a table in Markdown."""
    lines = [
        "| resources | size | different resources | the same resources | `git merge-file` |"
        " memory, different | memory, the same |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for point in points:
        cells = [f"{point.count:,}", f"{point.size / 1000:,.0f} KB"]
        cells += [f"{point.seconds(way) * 1000:,.{1 if way == 'git' else 0}f} ms" for way in WAYS]
        cells += [memory(point.peak(way)) for way in ("one", "both")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def memory(peak: float) -> str:
    """The peak of a process, unless it is hidden by what this process had when it started it."""
    own = mebibytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return f"{peak:.0f} MiB" if peak > own + 1 else f"below {own + 1:.0f} MiB"


# -- the plot: time against size, both by powers of ten

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 78, 196, 46, 52
# Readable on both backgrounds: the picture brings its own, light, and dark where that is asked.
STYLE = """\
text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#24292f}
.title{font-weight:600}.page{fill:#fff;stroke:#d0d7de}.grid{stroke:#d8dee4}
.line{fill:none;stroke-width:2}
.one{stroke:#0969da}.both{stroke:#bc4c00}.git{stroke:#57606a;stroke-dasharray:5 4}
circle.one{fill:#0969da}circle.both{fill:#bc4c00}circle.git{fill:#57606a}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117;stroke:#30363d}
.grid{stroke:#30363d}.one{stroke:#58a6ff}.both{stroke:#f0883e}.git{stroke:#8b949e}
circle.one{fill:#58a6ff}circle.both{fill:#f0883e}circle.git{fill:#8b949e}}"""
NAMES = {
    "one": ("kmerge,", "different resources"),
    "both": ("kmerge,", "the same resources"),
    "git": ("git merge-file",),
}


class Scale:
    """From a number to a place on an axis, by powers of ten."""

    def __init__(self, least: float, most: float, begin: float, end: float) -> None:
        self.powers = range(floor(log10(least)), ceil(log10(most)) + 1)
        self._begin, self._end = begin, end

    def at(self, value: float) -> float:
        part = (log10(value) - self.powers[0]) / (len(self.powers) - 1)
        return round(self._begin + part * (self._end - self._begin), 1)


def picture(points: list[Point]) -> str:
    """The plot as an SVG: seconds of CPU against the number of resources."""
    times = [point.seconds(way) * 1000 for point in points for way in WAYS]
    across = Scale(COUNTS[0], COUNTS[-1], LEFT, WIDTH - RIGHT)
    up = Scale(min(times), max(times), HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="t">',
        '<title id="t">CPU time of a merge against the number of resources in the file</title>',
        f"<style>{STYLE}</style>",
        f'<rect class="page" x=".5" y=".5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="6"/>',
        f'<text class="title" x="{LEFT}" y="26">CPU time of a merge of one file</text>',
        *_axes(across, up),
    ]
    for way in WAYS:
        parts += _line(points, way, across, up)
    return "\n".join([*parts, *_names(points, up), "</svg>"]) + "\n"


def _axes(across: Scale, up: Scale) -> list[str]:
    parts = []
    for power in up.powers:
        value = 10.0**power
        y = up.at(value)
        parts.append(f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>')
        name = f"{value:,.0f} ms" if value < 1000 else f"{value / 1000:,.0f} s"
        name = name if value >= 1 else f"{value:g} ms"
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{name}</text>')
    for power in across.powers:
        x = across.at(10.0**power)
        parts.append(f'<path class="grid" d="M{x} {TOP}V{HEIGHT - BOTTOM}"/>')
        y = HEIGHT - BOTTOM + 20
        parts.append(f'<text x="{x}" y="{y}" text-anchor="middle">{10**power:,}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    text = "resources in the file, some 0.6 KB each"
    parts.append(f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">{text}</text>')
    return parts


def _line(points: list[Point], way: str, across: Scale, up: Scale) -> list[str]:
    places = [(across.at(one.count), up.at(one.seconds(way) * 1000)) for one in points]
    path = "L".join(f"{x} {y}" for x, y in places)
    dots = [f'<circle class="{way}" cx="{x}" cy="{y}" r="3.5"/>' for x, y in places]
    return [f'<path class="line {way}" d="M{path}"/>', *dots]


def _names(points: list[Point], up: Scale) -> list[str]:
    """The names at the right ends of the lines, from top to bottom, none above another."""
    ends = sorted(WAYS, key=lambda way: -points[-1].seconds(way))
    parts, free = [], float(TOP)
    for way in ends:
        y = max(up.at(points[-1].seconds(way) * 1000) + 4, free)
        left = WIDTH - RIGHT + 14
        parts.append(f'<path class="line {way}" d="M{left} {round(y - 4, 1)}h18"/>')
        for name in NAMES[way]:
            parts.append(f'<text x="{left + 26}" y="{round(y, 1)}">{name}</text>')
            y += 16
        free = y + 8
    return parts
