"""Merges every pair of edits of the small templates, and holds each result beside the truth.

    python tools/check_templates.py [FILE ...] [--style STYLE] [--number N] [--clashes] [--git]

Files and styles are those of tests/worlds/. Of each kind of failure one merge is shown, as small as
it still fails; exit code 0 only if no clean result is wrong. `--number` takes so many pairs of each
template and style; `--git` runs git merge-file for each merge, and holds conflicts against their
laws. The package is the one on sys.path: PYTHONPATH=other-tree chooses another one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter, defaultdict
from functools import partial
from itertools import product
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(1, str(HERE / "tests"))
sys.path.append(str(HERE))  # where nobody chose a package

from worlds.lines import git_itself, git_lines  # noqa: E402
from worlds.template_files import FILES  # noqa: E402
from worlds.template_model import STYLES  # noqa: E402
from worlds.templates import (  # noqa: E402
    FULL,
    WRONG,
    Case,
    cases,
    is_work,
    judged,
    laws_broken,
    merged,
    of_git,
    shrunk,
    told,
)

import kmerge_git  # noqa: E402

Verdicts = tuple[Case, str, str, list[str]]


def main() -> int:
    """Check them all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", choices=[*FILES, []], metavar="FILE")
    parser.add_argument("--style", action="append", choices=[*STYLES])
    parser.add_argument("--number", type=int, metavar="N")
    parser.add_argument("--seed", default="", help="another one takes other pairs")
    parser.add_argument("--all", action="store_true", help="all edits in every style")
    parser.add_argument(
        "--clashes", action="store_true", help="only where git's lines clash, or break a reading"
    )
    parser.add_argument("--git", action="store_true", help="run git for the line merges")
    parser.add_argument("--missed", action="store_true", help="show needless conflicts as well")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    args = parser.parse_args()
    print(Path(kmerge_git.__file__).parent)
    totals: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    failures: dict[tuple[str, ...], list[Verdicts]] = defaultdict(list)
    with multiprocessing.Pool(args.jobs) as pool:
        for name, style in product(args.files or FILES, args.style or STYLES):
            counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
            given = chosen(name, style, args)
            for found in pool.imap(partial(checked, args), given, chunksize=64):
                if found is None:
                    continue
                case, ours, of_lines, faults = found
                counts[0][ours] += 1
                counts[1][of_lines] += 1
                if faults or ours in WRONG or (args.missed and ours == "missed"):
                    what = "law" if faults else ours
                    failures[(what, *sorted((case.ours.what, case.theirs.what)))].append(found)
            for total, count in zip(totals, counts, strict=True):
                total.update(count)
            print(f"{name}, {style}: {_said(counts[0])}; git: {_said(counts[1])}", flush=True)
    for kind, found in sorted(failures.items(), key=lambda pair: -len(pair[1])):
        show(kind, found, git=args.git)
    print(f"== {_said(totals[0])}; git: {_said(totals[1])}; {len(failures)} kinds of failure")
    return int(any(kind[0] != "missed" for kind in failures))


def chosen(name: str, style: str, args: argparse.Namespace) -> list[Case]:
    """The pairs, in an order of chance."""
    found = list(cases(name, STYLES[style], core=style != FULL and not args.all))
    Random(f"{name} {style} {args.seed}").shuffle(found)
    return found[: args.number]


def checked(args: argparse.Namespace, case: Case) -> Verdicts | None:
    """One merge, and git's beside it; nothing if nobody asks for it."""
    lines = git_itself if args.git else git_lines
    if args.clashes and not is_work(case, lines):
        return None
    ours = judged(case, lines)
    faults = laws_broken(case, lines) if args.git and ours in ("right", "allowed", "missed") else []
    # what another process can send
    return (
        Case(case.file, case.style, case.base, case.ours, case.theirs),
        ours,
        of_git(case, lines),
        faults,
    )


def show(kind: tuple[str, ...], found: list[Verdicts], *, git: bool) -> None:
    """One failure of a kind."""
    lines = git_itself if git else git_lines

    def fails(case: Case) -> bool:
        return (
            bool(laws_broken(case, lines)) if kind[0] == "law" else judged(case, lines) == kind[0]
        )

    case = shrunk(min((each[0] for each in found), key=lambda case: len(case.trio[0])), fails)
    files = ", ".join(sorted({each[0].file for each in found}))
    print(f"\n===== {kind[0]}: {kind[1]} / {kind[2]}: {len(found)} merges of {files}")
    print(told(case, merged(case, lines).text))
    for fault in laws_broken(case, lines) if kind[0] == "law" else []:
        print(f"-- {fault}")


def _said(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))


if __name__ == "__main__":
    sys.exit(main())
