"""Merges all cases, probes and random trios under all rule sets, for `tools/snapshot.py write`."""

from __future__ import annotations

import importlib
import json
import multiprocessing
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import ModuleType

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(1, str(HERE / "tests"))
sys.path.append(str(HERE))  # where nobody chose a package

from strategies import Trio, trio  # noqa: E402

import kmerge_git  # noqa: E402
from kmerge_git import KmergeError, Outcome, merge_files  # noqa: E402
from kmerge_git.merge.three import Three  # noqa: E402

CASES = HERE / "tests" / "cases"
PROBES = HERE / "tests" / "merge" / "vectors" / "merge_probes.json"
SIDES = {  # area of cases -> its files for base, ours and theirs
    "merge2": ("none", "dest", "src"),
    "merge3": ("original", "dest", "updated"),
}
POLICIES = [
    ("**.image", "higher"),
    ("**.args", "union"),
    ("spec.*", "theirs"),
    ("**.name", "ours"),
    ("data.*", "ours"),
]
Given = tuple[str, str, Trio, str]  # group, name, versions, path
Result = dict[str, object]


def write(out: Path, count: int) -> int:
    """Merge everything under all rule sets, on two cores."""
    groups: Counter[str] = Counter()
    with multiprocessing.Pool(2) as pool, out.open("w") as file:
        for group, line in pool.imap(merged, givens(count), chunksize=16):
            groups[group] += 1
            file.write(line + "\n")
    told = ", ".join(f"{number} {group}" for group, number in groups.items())
    print(f"{out}: {told}; {Path(kmerge_git.__file__).parent}")
    return 0


def givens(count: int) -> Iterator[Given | tuple[int, int]]:
    """All inputs; of a random trio its seed."""
    yield from cases()
    yield from probes()
    yield from ((seed, 1 + seed % 5) for seed in range(count))


def cases() -> Iterator[Given]:
    """Every case, and with its sides swapped."""
    for file in sorted(CASES.rglob("case.toml")):
        case = tomllib.loads(file.read_text("utf-8"))
        path = case.get("path") or case.get("options", {}).get("path", "")
        area = file.relative_to(CASES).parts[0]
        base, ours, theirs = (
            next(map(Path.read_bytes, file.parent.glob(f"{name}.*")), b"")
            for name in SIDES.get(area, ("base", "ours", "theirs"))
        )
        name = str(file.parent.relative_to(CASES))
        yield "cases", name, (base, ours, theirs), path
        yield "cases swapped", name, (base, theirs, ours), path


def probes() -> Iterator[Given]:
    """Every probe; those of merge2 have no base."""
    for probe in json.loads(PROBES.read_text("utf-8"))["cases"]:
        names = SIDES.get(probe["mode"], SIDES["merge3"])
        base, ours, theirs = (probe.get(name, "").encode() for name in names)
        yield "probes", probe["id"], (base, ours, theirs), ""


def merged(given: Given | tuple[int, int]) -> tuple[str, str]:
    """The group of an input, and its line of the snapshot."""
    if len(given) == 2:
        seed, edits = given
        group, name, versions, path = "random", str(seed), trio(Random(seed), edits), ""
    else:
        group, name, versions, path = given
    results = {name: result(run) for name, run in runs(versions, path, group != "random").items()}
    inputs = [shown(version) for version in versions]
    line = {"group": group, "name": name, "inputs": inputs, "results": results}
    return group, json.dumps(line)


def runs(versions: Trio, path: str, lines: bool) -> dict[str, Callable[[], Result]]:
    """The merges of three versions by rule set; with git's line merge, which is a process, too."""
    at = Three(*versions)

    def git(**options: object) -> Callable[[], Result]:
        options = {"line_merge": lambda *_: (b"", False), **options}
        return lambda: outcome(merge_files(*versions, path=path, **options))

    def merge3(**options: bool) -> Callable[[], Result]:
        return lambda: answer(SEEDS.merge3_bytes(at, path=path, **options))

    def merge2(**options: bool) -> Callable[[], Result]:
        return lambda: answer(TWO_WAY.merge2_bytes(at.theirs, at.ours, path=path, **options))

    def elided() -> Result:
        with every_document_large():
            return git()()

    by_lines = {"git with lines": git(line_merge=None)} if lines else {}
    return by_lines | {
        "git": git(),
        "git diff3": git(style="diff3"),
        "git elided": elided,
        "favor ours": git(favor="ours"),
        "favor theirs": git(favor="theirs"),
        "policies": git(policy=POLICY),
        "kyaml": git(rules="kyaml"),
        "merge3": merge3(),
        "merge3 infer=False": merge3(infer=False),
        "merge2": merge2(),
        "merge2 infer=False": merge2(infer=False),
        "merge2 prepend": merge2(prepend=True),
    }


@contextmanager
def every_document_large() -> Iterator[None]:
    """Runs of lines that nobody changed are taken out of the smallest document."""
    worth, large = ELISION.WORTH, DOCUMENTS.LARGE
    ELISION.WORTH, DOCUMENTS.LARGE = 20, 0
    try:
        yield
    finally:
        ELISION.WORTH, DOCUMENTS.LARGE = worth, large


def result(run: Callable[[], Result]) -> Result:
    """What a merge comes to; an error is a result, too."""
    try:
        return run()
    except KmergeError as error:
        return {"error": [type(error).__name__, str(error), error.caret()]}
    except Exception as error:  # a bug: merge_files never lets one out, merge2 and merge3 do
        return {"error": [type(error).__name__, str(error)]}


def outcome(made: Outcome) -> Result:
    """What `merge_files` comes to."""
    return {
        "text": shown(made.text),
        "conflicts": [
            [c.resource, c.field, c.why, c.base, c.ours, c.theirs] for c in made.conflicts
        ],
        "decisions": decisions(made),
        "method": [made.method, made.clean, made.reason],
    }


def answer(made: object) -> Result:
    """What `merge2` and `merge3` come to."""
    return {
        "text": shown(made.data),
        "conflicts": made.conflicts,
        "decisions": decisions(made),
        "method": made.reason,
    }


def decisions(made: object) -> list[list[str]]:
    """All that a merge says about itself."""
    return [[d.resource, d.path, d.what, d.side, d.rule, d.ours, d.theirs] for d in made.decisions]


def shown(data: bytes) -> str:
    """Bytes as text that JSON can hold, whatever they are."""
    return data.decode("utf-8", "surrogateescape")


# -- what has moved since there are snapshots


def module(*names: str) -> ModuleType:
    """The first of these modules of the package that there is."""
    for name in names:
        try:
            return importlib.import_module(f"kmerge_git.{name}")
        except ModuleNotFoundError:
            continue
    raise SystemExit(
        f"tools/snapshot_merges.py: no module {' or '.join(names)} in {kmerge_git.__file__}"
    )


SEEDS = module(kmerge_git._HOMES["merge3"])
TWO_WAY = module(kmerge_git._HOMES["merge2"])
ELISION = module("merge.elision")
DOCUMENTS = module("merge.by_resource", "merge.documents", "merge.resources")
POLICY = module("merge.decide.policies", "merge.policies").policy_for(POLICIES)
