"""Time everything and print one table: `kmerge` beside git, or beside a bare start of Python.

    python bench/all.py                         all rows; some twenty minutes
    python bench/all.py --only template,list    the rows with one of these words
    python bench/all.py --against TREE          the same of another checkout, by turns
    python bench/all.py --write                 bench/figures.md; docs/performance.md and its plot

Rounds are interleaved: every round runs the work and what it is compared with once. A ratio is
that of the medians; behind it are the least and the greatest ratio of one round.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from growth import growth, growth_table, picture
from rows import Ratio, Row, rows
from timing import ROOT, Command, Tree, apart, interleaved, median, scratch

FIGURES = ROOT / "bench" / "figures.md"
PAGE = ROOT / "docs" / "performance.md"
PLOT = ROOT / "docs" / "performance.svg"


def main() -> int:
    """Print the table; write it into the page if that is asked."""
    parser = arguments()
    options = parser.parse_args()
    if options.write and (options.only or options.against):
        parser.error("--write writes the whole table, of this tree alone")
    if options.write:
        for page, name in PLACES:
            parts(page, name)  # half an hour later it would be too late to miss a place
        if missing := set(FOR_USERS) - {row.name for row in rows()}:
            raise SystemExit(f"no row has the name of {sorted(missing)}")
    words = options.only.lower().split(",")
    checkouts = [ROOT, *([options.against.resolve()] if options.against else [])]
    chosen = [row for row in rows() if any(word in row.name.lower() for word in words)]
    with scratch(checkouts) as (folder, trees):
        table = Table(has_old=len(trees) > 1)
        for number, row in enumerate(chosen):
            place = folder / f"row{number}"
            apart(partial(row.prepare, place))
            for line in measured(row, trees, place, options.rounds):
                table.add(line)
            shutil.rmtree(place)
        if options.growth or options.write:
            points = growth(folder / "growth", trees[0], options.rounds)
            print(f"\n{growth_table(points)}")
    if options.write:
        measured_on = f"{machine(options.rounds)}\n"
        texts = (measured_on, table.figures(), measured_on, table.for_users(), growth_table(points))
        for (page, name), text in zip(PLACES, texts, strict=True):
            write(page, name, text)
        PLOT.write_text(picture(points))
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", metavar="WORDS", help="rows with one of (a,b,c)")
    parser.add_argument("--against", type=Path, metavar="TREE", help="a checkout to compare with")
    parser.add_argument("--growth", action="store_true", help="time against size, too")
    parser.add_argument("--write", action="store_true", help="write the pages and the plot")
    return parser


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: the work of each tree, and what it is compared with."""

    name: str
    ratio: Ratio
    share: tuple[int, str]
    work: list[list[float]]  # of each tree, seconds of each round
    ruler: list[list[float]]

    def quotient(self, tree: int) -> str:
        """The ratio of the medians, and those of the rounds; bold if the goal is missed."""
        pairs = zip(self.work[tree], self.ruler[tree], strict=True)
        each = [work / ruler for work, ruler in pairs]
        whole = median(self.work[tree]) / median(self.ruler[tree])
        text = f"{shown(whole)} ({shown(min(each))} to {shown(max(each))})"
        is_missed = self.ratio.goal is not None and round(whole, 2) > self.ratio.goal
        return f"**{text}**" if is_missed else text

    @property
    def more(self) -> str:
        """Return how much longer it takes than what it is compared with, for each file."""
        count, what = self.share
        more = (median(self.work[0]) - median(self.ruler[0])) * 1000 / count
        return f"{more:+.{1 if abs(more) < 10 else 0}f} ms{' a ' if what else ''}{what}"


def measured(row: Row, trees: list[Tree], place: Path, rounds: int) -> list[Line]:
    """Time a row, the trees by turns; a command that both trees share runs once a round."""
    subjects = [row.subject(tree, place) for tree in trees]
    rulers = [[ratio.ruler(tree, place) for tree in trees] for ratio in row.ratios]
    spent = interleaved([*subjects, *(one for each in rulers for one in each)], rounds)

    def seconds(command: Command, ratio: Ratio) -> list[float]:
        return [each.wall if ratio.is_wall else each.cpu for each in spent[command]]

    return [
        Line(
            row.name,
            ratio,
            row.share,
            [seconds(subject, ratio) for subject in subjects],
            [seconds(one, ratio) for one in each],
        )
        for ratio, each in zip(row.ratios, rulers, strict=True)
    ]


HEADS = ["work", "min", "median", "compared with", "min", "median", "ratio", "goal", "more"]
IN_FIGURES = (0, 1, 2, 3, 5, 6, 8)  # goals are for one's own machine
# the rows and columns of docs/performance.md
FOR_USERS = (
    "Deployment of 5 KB, merged by the driver command in git's configuration",
    "file of 3.5 MB, both sides changed the same twenty documents",
    "Helm template of 60 KB, in which git has a conflict in each document",
    "`git merge` of 200 files of 5 KB",
    "`kmerge merge` of 200 files of 5 KB",
    "`kmerge refresh` of 200 branches, 20,000 files",
    "`kmerge check` of 1,000 files",
)
WORK, MEDIAN, COMPARED_WITH, RATIO = 0, 2, 3, 6
PLACES = [(FIGURES, "machine"), (FIGURES, "table")]
PLACES += [(PAGE, "machine"), (PAGE, "table"), (PAGE, "growth")]


class Table:
    """The table in Markdown, printed line by line."""

    def __init__(self, *, has_old: bool) -> None:
        self._has_old = has_old
        self._rows: list[list[str]] = []
        heads = [*HEADS, *(["old ratio", "new / old"] if has_old else [])]
        self._put(heads)
        self._put(["---"] * len(heads))

    def add(self, line: Line) -> None:
        """Print a line and keep it."""
        work, ruler, goal = line.work[0], line.ruler[0], line.ratio.goal
        cells = [line.name, milliseconds(min(work)), milliseconds(median(work)), line.ratio.to]
        cells += [milliseconds(min(ruler)), milliseconds(median(ruler)), line.quotient(0)]
        cells += [f"{goal:g}" if goal else "", line.more]
        if self._has_old:
            cells += [line.quotient(1), f"{median(work) / median(line.work[1]):.2f}"]
        self._put(cells)

    def _put(self, cells: list[str]) -> None:
        self._rows.append(cells)
        print(markdown(cells), flush=True)

    def figures(self) -> str:
        """The whole table, without the goals."""
        rows = ([row[column].strip("*") for column in IN_FIGURES] for row in self._rows)
        return "".join(f"{markdown(row)}\n" for row in rows)

    def for_users(self) -> str:
        """The rows that a user asks for, each with its first comparison."""
        heads, bar, *lines = self._rows
        first = {line[WORK]: line for line in reversed(lines)}
        return "".join(
            f"{markdown([line[WORK], line[MEDIAN], line[COMPARED_WITH], ratio])}\n"
            for line in (heads, bar, *(first[name] for name in FOR_USERS))
            for ratio in [line[RATIO].strip("*").partition(" (")[0]]
        )


def markdown(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def shown(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def milliseconds(seconds: float) -> str:
    each = seconds * 1000
    return f"{each:.1f} ms" if each < 100 else f"{each:,.0f} ms"


def machine(rounds: int) -> str:
    """Return what it was measured on, in a sentence."""
    versions = subprocess.check_output(["git", "--version"], text=True).split()[2]
    model = "an unknown processor"
    cpuinfo = Path("/proc/cpuinfo")
    for line in cpuinfo.read_text().splitlines() if cpuinfo.exists() else []:
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        f"Measured on {cores} cores of {model}, {platform.system()}, CPython "
        f"{platform.python_version()}, git {versions}; {rounds} rounds."
    )


def write(page: Path, name: str, text: str) -> None:
    """Replace what is between the two comments of a name in a page."""
    before, after = parts(page, name)
    page.write_text(before + text + after)


def parts(page: Path, name: str) -> tuple[str, str]:
    """The page before and behind a place, its two comments included."""
    head, begin, rest = page.read_text().partition(f"<!-- {name}: bench/all.py --write -->\n")
    _, end, tail = rest.partition("<!-- end -->\n")
    if not begin or not end:
        raise SystemExit(f"{page.name} has no place for {name}")
    return head + begin, end + tail


if __name__ == "__main__":
    sys.exit(main())
