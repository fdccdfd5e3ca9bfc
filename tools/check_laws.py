"""Merges, and holds every result against the laws of a merge (tests/lawbook.py).

    python tools/check_laws.py folder DIR [--law LAW ...]        the merges of a folder
    python tools/check_laws.py random [KIND ...] [--number N]    random edits of random manifests
    python tools/check_laws.py random --day [DAY] [--number N]   those of a day, such as 20261127

A conflict is made in each of the three styles, and held against the law "accept both" as well
(tests/lawbook_accept.py). The law "whole" (tests/whole_text.py) asks PyYAML, or a reader of JSON,
for the whole file. Of random KINDs, `conflicts` are those of tests/random_conflicts.py, and
`streams` and `json` are of tests/random_streams.py: a fifth of them favors a side or has a policy.

A folder has a `cases.jsonl`, whose lines name the files `base`, `ours` and `theirs` in `blobs/`, or
subfolders with base.yaml, ours.yaml and theirs.yaml. Of each merge that breaks a law it is told
which, and where; exit code 0 only if there is none, or no more than `--most`. Nothing is written
but what `--keep` asks for.

The package is the one on sys.path: PYTHONPATH=other-tree chooses another one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(1, str(HERE / "tests"))
sys.path.append(str(HERE))  # where nobody chose a package

import lawbook_accept  # noqa: E402
import whole_text  # noqa: E402
from lawbook import LAWS, Breach, breaches  # noqa: E402
from random_conflicts import conflict_trio  # noqa: E402
from random_manifests import KINDS  # noqa: E402
from random_streams import json_trio, stream_trio  # noqa: E402
from strategies import Trio, trio  # noqa: E402
from worlds.lines import git_lines  # noqa: E402

import kmerge_git  # noqa: E402
from kmerge_git import Outcome, merge_files  # noqa: E402
from kmerge_git.merge.decide.policies import policy_for  # noqa: E402
from kmerge_git.text.markers import marker_size_for  # noqa: E402

Found = tuple[str, Trio, Outcome, list[Breach]]  # name and path, versions, result, breaches
MOST_SHOWN = 5  # breaches of one merge
ALL_LAWS = [*LAWS, lawbook_accept.LAW, whole_text.LAW]
STREAMS = {"streams": (stream_trio, "a.yaml"), "json": (json_trio, "a.json")}
ALL_KINDS = [*KINDS, "conflicts", *STREAMS]
# what a fifth of the merges of streams is made with
SETTLED = [
    {"favor": "ours"},
    {"favor": "theirs"},
    {"policy": policy_for([("**", "theirs")], "", "a")},
]
STYLES = ("diff3", "merge", "zdiff3")


def main() -> int:
    """Check a folder, or random merges."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("folder")
    command.add_argument("folder", type=Path)
    command.set_defaults(groups=lambda args: {str(args.folder): folder_merges(args.folder)})
    command = commands.add_parser("random")
    command.add_argument("kinds", nargs="*", choices=[*ALL_KINDS, []], metavar="KIND")
    command.add_argument("--number", type=int, default=20_000, metavar="N", help="a kind")
    command.add_argument("--seed", default="", help="another one gives other merges")
    command.add_argument(
        "--day",
        nargs="?",
        const=time.strftime("%Y%m%d", time.gmtime()),
        help="the seed is a day, today if none is named; how to repeat it is told",
    )
    command.add_argument(
        "--most", type=int, default=0, metavar="N", help="exit code 0 if no more than N break a law"
    )
    command.set_defaults(
        groups=lambda args: {kind: random_merges(kind, args) for kind in args.kinds or ALL_KINDS}
    )
    for each in commands.choices.values():
        each.add_argument(
            "--law", action="append", choices=ALL_LAWS, help="only this one; repeatable"
        )
        each.add_argument("--keep", type=Path, help="write the files of what breaks a law there")
    args = parser.parse_args()
    print(Path(kmerge_git.__file__).parent)
    if getattr(args, "day", None):
        args.seed = f"{args.day}-"
        kinds = "".join(f" {kind}" for kind in args.kinds)
        print(f"again: tools/check_laws.py random{kinds} --day {args.day} --number {args.number}")
    broken = 0
    for group, givens in args.groups(args).items():
        broken += checked(group, givens, args.law or ALL_LAWS, args.keep)
    return int(broken > getattr(args, "most", 0))


def checked(
    group: str, givens: Iterator[tuple[str, ...]], laws: list[str], keep: Path | None
) -> int:
    """Tell every merge of a group that breaks one of the laws; how many they are."""
    counts: Counter[str] = Counter()
    with multiprocessing.Pool(2) as pool:
        for name, versions, outcome, found in pool.imap(
            partial(merged, laws), givens, chunksize=16
        ):
            counts["merges"] += 1
            counts["clean"] += outcome.clean
            against = [breach for breach in found if breach.law in laws]
            if not against:
                continue
            counts["broken"] += 1
            counts.update({breach.law for breach in against})
            print(f"{name} ({'clean' if outcome.clean else 'conflicts'}, {outcome.method})")
            for breach in against[:MOST_SHOWN]:
                print(f"    {breach}")
            if len(against) > MOST_SHOWN:
                print(f"    and {len(against) - MOST_SHOWN} more")
            if keep is not None:
                written(keep / name.split(" ")[0].replace("/", "_"), versions, outcome)
    told = ", ".join(f"{count} {what}" for what, count in counts.items())
    print(f"== {group}: {told}", flush=True)
    return counts["broken"]


def written(folder: Path, versions: Trio, outcome: Outcome) -> None:
    """The files of a merge, to look at it."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ("base", "ours", "theirs", "result")
    for name, data in zip(names, (*versions, outcome.text), strict=True):
        (folder / f"{name}.yaml").write_bytes(data)


# -- the merges


def folder_merges(folder: Path) -> Iterator[tuple[str, ...]]:
    """The merges of a folder: name, path in the repository, and the files of the three versions."""
    cases = folder / "cases.jsonl"
    if cases.exists():
        for line in cases.read_text("utf-8").splitlines():
            case = json.loads(line)
            blobs = [case.get(side) for side in ("base", "ours", "theirs")]
            files = [str(folder / "blobs" / blob) if blob else "" for blob in blobs]
            yield (case["id"], case.get("path", ""), *files)
        return
    for base in sorted(folder.rglob("base.yaml")):
        name = str(base.parent.relative_to(folder))
        yield (
            name,
            "",
            *(str(base.with_name(f"{side}.yaml")) for side in ("base", "ours", "theirs")),
        )


def random_merges(kind: str, args: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """Kinds and seeds."""
    return ((kind, f"{args.seed}{number}") for number in range(args.number))


def merged(laws: list[str], given: tuple[str, ...]) -> Found:
    """One merge; of a random one there are its kind and its seed."""
    count = None  # how many documents a clean result has, where that is known
    if len(given) == 2:
        kind, seed = given
        name, path, r = f"{kind}-{seed}", "", Random(f"{kind} {seed}")
        if kind in STREAMS:
            maker, path = STREAMS[kind]
            versions, count = maker(r)
        else:
            versions = trio(r, r.randint(1, 4), kind) if kind in KINDS else conflict_trio(r)
        settled = r.choice(SETTLED) if kind in STREAMS and r.randrange(5) == 0 else {}
        count = None if settled else count
        make = partial(merge_files, *versions, path=path, line_merge=git_lines, **settled)
    else:
        name, path, *files = given
        base, ours, theirs = (Path(file).read_bytes() if file else b"" for file in files)
        versions = (base, ours, theirs)
        make = partial(merge_files, *versions, path=path)
    outcome = make(style="diff3")
    found = [Breach(whole_text.LAW, "", why) for why in whole(versions, outcome, count, path)]
    if len(given) == 2 and given[0] in STREAMS:
        laws = [whole_text.LAW]  # what is in the documents is looked at elsewhere
    if {*laws} & {*LAWS}:
        found += breaches(*versions, outcome.text, clean=outcome.clean, path=path)
    if lawbook_accept.LAW in laws and not outcome.clean and outcome.method == "structure":
        found += [each for style in STYLES for each in accept(versions, style, make)]
    outcome = Outcome(outcome.text, outcome.clean, outcome.method)  # what another process can send
    return f"{name} {path}".rstrip(), versions, outcome, found


def whole(versions: Trio, outcome: Outcome, count: int | None, path: str) -> Iterator[str]:
    """What a reader of the whole file says against a result."""
    unread = whole_text.unread(versions, outcome.text, clean=outcome.clean, path=path)
    if unread:
        yield unread
    elif outcome.clean and count is not None:
        found = whole_text.documents(outcome.text, path)
        if found not in (None, count):
            yield f"{found} documents, not {count}"


def accept(versions: Trio, style: str, make: Callable[..., Outcome]) -> Iterator[Breach]:
    """What is wrong when both sides of a conflict in this style are taken."""
    texts = [data.decode("utf-8", "replace") for data in versions]
    size = marker_size_for(texts)
    text = make(style=style).text.decode("utf-8", "replace")
    for breach in lawbook_accept.breaches(text, size, style=style, versions=texts):
        yield replace(breach, place=f"{style}, {breach.place}")


if __name__ == "__main__":
    sys.exit(main())
