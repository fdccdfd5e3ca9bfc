"""CPU time and memory of hostile inputs below 1 MB, through every command; and how they grow.

    python bench/hostile.py [--only WORDS] [--roads ROADS] [--bar SECONDS] [--memory MIB]
                            [--size PART] [--whole] [--against TREE] [--json]

Every input is a trio of files and is measured at half its size and whole (`--whole`: only whole),
as whole processes from start to end: user and system time of the child and of its own children
(git). A row says what is wrong with it: more than a bar, more than three times as long as its
half, or a tenth slower than the other tree; the last lines repeat these rows. A process is ended
at four times the bar. The clock of kmerge is off: what it would end is seen. `refresh` asks git
what its own merge comes to: what these calls take is not counted against the bar.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from histories import git
from timing import ROOT, Command, Tree, library, run, scratch

INSIDE = str(ROOT / "bench" / "inside.py")
GROWTH = 3.0  # from half to whole
SLOWER = 1.1  # times the other tree
SMALL = 0.6  # seconds: below, the growth says nothing
SHORT = 0.2  # seconds: below, the other tree says nothing
AGAIN = 3  # what seems slower than the other tree runs so often; the least counts
Trio = tuple[str, str, str]


def main() -> int:
    """Measure; exit code 1 if anything takes too long or too much."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="inputs with one of these words (a,b,c)")
    parser.add_argument("--roads", default=",".join(ROADS), help=f"of {', '.join(ROADS)}")
    parser.add_argument("--bar", type=float, default=5.0)
    parser.add_argument("--memory", type=int, default=300)
    parser.add_argument("--size", type=float, default=1.0, help="a part of every input's size")
    parser.add_argument("--whole", action="store_true", help="not at half its size, too")
    parser.add_argument("--against", type=Path, metavar="TREE", help="a checkout to compare with")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    args = parser.parse_args()
    words = args.only.split(",")
    checkouts = [ROOT, *([args.against.resolve()] if args.against else [])]
    rows: list[Measured] = []
    with scratch(checkouts) as (_, trees):
        for name in SHAPES:
            if any(word in name for word in words):
                for row in measured(name, trees, args):
                    rows.append(row)
                    if not args.json:
                        print(row, flush=True)
    bad = [row for row in rows if row.wrong]
    if args.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        print(f"\n{len(rows)} rows, {len(bad)} of them wrong", *bad, sep="\n")
    return 1 if bad else 0


@dataclass(slots=True)
class Measured:
    """One row of the table."""

    input: str
    road: str
    half: float
    seconds: float
    mebibytes: int
    exit: int
    old: float = 0.0  # seconds of the other tree
    git: float = 0.0  # seconds of git's own merges in it
    wrong: tuple[str, ...] = ()

    def __str__(self) -> str:
        old = f" old {self.old:5.2f}" if self.old else ""
        git = f" git's merge-tree {self.git:.2f} s" if self.git else ""
        wrong = f"  <--- {', '.join(self.wrong)}" if self.wrong else ""
        return (
            f"{self.input:26} {self.road:13} {self.half:7.2f} {self.seconds:7.2f} s{old} "
            f"{self.mebibytes:5} MiB  exit {self.exit}{git}{wrong}"
        )


def measured(name: str, trees: list[Tree], args: argparse.Namespace) -> Iterable[Measured]:
    """Half and whole of one input on some roads."""
    make, most = SHAPES[name]
    file = FILES.get(name, "a.yaml")
    count = int(most * args.size)
    with tempfile.TemporaryDirectory() as place:
        whole = Places(Path(place, "whole"), file, make(count), trees[0])
        half = Places(Path(place, "half"), file, make(count // 2), trees[0])
        for road in args.roads.split(","):
            row = Measured(name, road, 0.0, *once(road, whole, trees[0], args.bar))
            if not args.whole:
                row.half = once(road, half, trees[0], args.bar)[0]
            if len(trees) > 1:
                compare(row, whole, trees, args.bar)
            if road == "refresh":
                row.git = once(road, whole, trees[0], args.bar, shares="merge-tree")[0]
            row.wrong = tuple(faults(row, args))
            yield row


def compare(row: Measured, whole: Places, trees: list[Tree], bar: float) -> None:
    """Run the other tree, and both again by turns while this one seems slower."""
    row.old = once(row.road, whole, trees[1], bar)[0]
    for _ in range(AGAIN - 1):
        if row.seconds <= max(SHORT, SLOWER * row.old):
            break
        row.old = min(row.old, once(row.road, whole, trees[1], bar)[0])
        row.seconds = min(row.seconds, once(row.road, whole, trees[0], bar)[0])


def faults(row: Measured, args: argparse.Namespace) -> Iterable[str]:
    """Return what is wrong with a row, in words."""
    if row.seconds - row.git > args.bar:
        yield f"over {args.bar:g} s"
    if row.mebibytes > args.memory:
        yield f"over {args.memory} MiB"
    if row.seconds > SMALL and 0 < row.half * GROWTH < row.seconds:
        yield f"{row.seconds / row.half:.1f} times its half"
    if row.seconds > SHORT and 0 < row.old * SLOWER < row.seconds:
        yield f"{row.seconds / row.old:.2f} times the other tree"


def once(
    road: str, places: Places, tree: Tree, bar: float, shares: str = ""
) -> tuple[float, int, int]:
    """CPU seconds, peak memory in MiB and the exit code of one run.

    With `shares` the seconds are those of git's calls with this word.
    """
    place, words = ROADS[road]
    names = {
        "FILE": places.file,
        "PATCH": "patch-theirs.yaml",
        "BASE": "base/" + places.file,
        "OURS": "ours/" + places.file,
        "THEIRS": "theirs/" + places.file,
        "DRIVER": str(tree.driver),
        "LIBRARY": f"--lib={library()}",
    }
    argv = (sys.executable, *(names.get(word, word) for word in words))
    if shares:
        argv = (sys.executable, INSIDE, "share", shares, "--", *argv)
    with tempfile.TemporaryDirectory() as scratch_folder:
        kind, _, inner = place.partition("/")
        folder = Path(scratch_folder, "at")
        shutil.copytree(places.made(kind), folder)
        command = Command(
            argv,
            folder / inner,
            env=tree.env,
            codes=tuple(range(-64, 256)),
            reports=bool(shares),
            limit=0 if shares else int(bar * 4),
        )
        spent = run(command)
    return round(spent.cpu, 2), int(spent.peak), spent.code


class Places:
    """Where a trio lies for the commands: as three folders, or in a repository in some state."""

    def __init__(self, folder: Path, file: str, texts: Trio, tree: Tree) -> None:
        self.folder = folder
        self.tree = tree
        self.file = file
        self.texts = [text.encode() for text in texts]

    def made(self, place: str) -> Path:
        """The folder of a place, made once."""
        folder = self.folder / place
        if not folder.exists():
            folder.mkdir(parents=True)
            {
                "folder": self._make_folder,
                "branches": self._make_branches,
                "stopped": self._make_stopped,
                "past": self._make_past,
                "vendored": self._make_vendored,
            }[place](folder)
        return folder

    def _make_folder(self, folder: Path) -> None:
        for name, data in zip(("base", "ours", "theirs"), self.texts, strict=True):
            self._write(folder / name, data)
        (folder / "patch-theirs.yaml").write_bytes(self.texts[2])

    def _make_branches(self, folder: Path) -> None:
        base, ours, theirs = self.texts
        git(folder, "init", "-q", "-b", "main")
        self._commit(folder, base)
        git(folder, "checkout", "-q", "-b", "topic")
        self._commit(folder, theirs)
        git(folder, "checkout", "-q", "main")
        self._commit(folder, ours)

    def _make_stopped(self, folder: Path) -> None:
        shutil.copytree(self.made("branches"), folder, dirs_exist_ok=True)
        git(folder, "merge", "-q", "--no-commit", "topic", fails=True)

    def _make_past(self, folder: Path) -> None:
        shutil.copytree(self.made("branches"), folder, dirs_exist_ok=True)
        git(folder, "merge", "-q", "-s", "ours", "-m", "merged", "topic")

    def _make_vendored(self, folder: Path) -> None:
        upstream, package = folder / "upstream", folder / "here"
        upstream.mkdir()
        package.mkdir()
        base, ours, theirs = self.texts
        git(upstream, "init", "-q", "-b", "main")
        self._commit(upstream / "app", base)
        git(upstream, "tag", "v1")
        self._commit(upstream / "app", theirs)
        git(upstream, "tag", "v2")
        git(package, "init", "-q", "-b", "main")
        add = ("vendor", "add", "../upstream", "app", "--path", "app", "--ref", "v1")
        if run(Command(self.tree.kmerge(*add), package, env=self.tree.env)).code:
            raise SystemExit("`kmerge vendor add` failed")
        self._commit(package / "app", ours)

    def _commit(self, folder: Path, data: bytes) -> None:
        self._write(folder, data)
        git(folder, "add", "-A", ".")
        git(folder, "commit", "-q", "--allow-empty", "-m", "a change")

    def _write(self, folder: Path, data: bytes) -> None:
        path = folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


TOOL = ["-m", "kmerge_git"]
MERGE3 = ["merge3", "--original", "BASE", "--updated", "THEIRS", "--dest", "OURS"]
ROADS: dict[str, tuple[str, list[str]]] = {
    "driver": (
        "folder",
        [
            *("-I", "-S", "DRIVER", "LIBRARY"),
            *("--marker-size=7", "--path=a.yaml", "BASE", "OURS", "THEIRS"),
        ],
    ),
    "merge-file": ("folder", [*TOOL, "merge-file", "BASE", "OURS", "THEIRS", "--explain"]),
    "mergetool": ("folder", [*TOOL, "mergetool", "BASE", "OURS", "THEIRS", "out.yaml"]),
    "merge3": ("folder", [*TOOL, *MERGE3, "--explain"]),
    "merge3-git": ("folder", [*TOOL, *MERGE3, "--rules=git", "--explain"]),
    "merge2": ("folder", [*TOOL, "merge2", "--src", "THEIRS", "--dest", "OURS", "--explain"]),
    "make-patch": ("folder", [*TOOL, "make-patch", "OURS", "THEIRS", "--type=merge"]),
    "make-patch3": ("folder", [*TOOL, "make-patch", "BASE", "OURS", "--live", "THEIRS"]),
    "patch": ("folder", [*TOOL, "patch", "OURS", "--patch", "THEIRS", "--type=merge"]),
    "patch-smp": ("folder", [*TOOL, "patch", "OURS", "--patch", "THEIRS"]),
    "apply": ("folder", [*TOOL, "apply", "--live", "OURS", "THEIRS", "--explain"]),
    "apply-last": (
        "folder",
        [*TOOL, "apply", "--live", "OURS", "THEIRS", "--last-applied", "BASE"],
    ),
    "last-applied": (
        "folder",
        [*TOOL, "last-applied", "set", "OURS", "--config", "THEIRS", "--create-annotation"],
    ),
    "check": ("folder", [*TOOL, "check", "OURS"]),
    "check-patch": ("folder", [*TOOL, "check", "--as", "patch", "PATCH", "--target", "OURS"]),
    "check-fix": ("folder", [*TOOL, "check", "OURS", "--dry-run"]),
    "check-staged": ("stopped", [*TOOL, "check", "--staged"]),
    "check-merge": ("stopped", [*TOOL, "check", "--merge", "FILE"]),
    "check-of": ("past", [*TOOL, "check", "--merge-of", "HEAD"]),
    "diff": ("folder", [*TOOL, "diff", "OURS", "THEIRS"]),
    "diff-full": ("branches", [*TOOL, "diff", "main", "topic", "--full"]),
    "preview": ("branches", [*TOOL, "preview", "topic"]),
    "rebase": ("branches", [*TOOL, "preview", "topic", "--rebase"]),
    "merge": ("branches", [*TOOL, "merge", "topic"]),
    "refresh": ("branches", [*TOOL, "refresh", "--with", "main", "topic"]),
    "solve": ("stopped", [*TOOL, "solve"]),
    "list": ("stopped", [*TOOL, "resolve", "--list"]),
    "take": ("stopped", [*TOOL, "resolve", "--take", "ours"]),
    "both": ("stopped", [*TOOL, "resolve", "--take", "both"]),
    "explain": ("stopped", [*TOOL, "explain", "--all"]),
    "explain-past": ("past", [*TOOL, "explain", "HEAD"]),
    "replay": ("past", [*TOOL, "replay", "--jobs", "1"]),
    "policy-try": ("past", [*TOOL, "policy", "try", "*", "**.x", "higher", "--jobs", "1"]),
    "status": ("branches", [*TOOL, "status", "FILE"]),
    "vendor": ("vendored/here", [*TOOL, "vendor", "update", "app", "--ref", "v2"]),
}


# -- the inputs: a count -> three files


def lines(parts: Iterable[str], head: str = "") -> str:
    """A head and a line for each part."""
    return head + "".join(f"{part}\n" for part in parts)


def flow_maps(count: int) -> Trio:
    """A block list of flow maps; each side changes another one."""
    return _each(count, lambda n, v: f"- {{a: {n}, b: {v}}}", "l:\n")


def flow_list(count: int) -> Trio:
    """The same as one flow list over many lines."""
    made = _each(count, lambda n, v: f"  {{a: {n}, b: {v}}},", "l: [\n")
    return made[0] + "]\n", made[1] + "]\n", made[2] + "]\n"


def separators(count: int) -> Trio:
    """Nothing but `---`, and one document on each side."""
    body = "---\n" * count
    return body + "a: 1\nb: 1\n", body + "a: 2\nb: 1\n", body + "a: 1\nb: 2\n"


def tiny_documents(count: int) -> Trio:
    """Documents of one field; each side changes every third."""
    return _each(count, lambda n, v: f"---\na: {v}", "")


def tiny_resources(count: int) -> Trio:
    """Named documents; each side changes every third."""
    return _each(
        count, lambda n, v: f"---\nkind: A\nmetadata: {{name: x{n}}}\nspec: {v}\nend: {n}", ""
    )


def templates(count: int) -> Trio:
    """Helm's braces in every line."""
    return _each(count, lambda n, v: f"a{n}: {{{{ x{v} }}}}", "")


def one_template(count: int) -> Trio:
    """The same key with braces in every line."""
    return _each(count, lambda n, v: f"a: {{{{ x{v} }}}}", "")


def scalars(count: int) -> Trio:
    """A map of scalars; each side changes every third."""
    return _each(count, lambda n, v: f"k{n}: {v}", "")


def clashes(count: int) -> Trio:
    """A map whose every second entry both sides change."""
    return tuple(  # type: ignore[return-value]
        lines(f"k{n}: {side if n % 2 else 0}" for n in range(count)) for side in "bot"
    )


def all_clash(count: int) -> Trio:
    """A map whose every entry both sides change."""
    return tuple(lines(f"k{n}: {side}" for n in range(count)) for side in "bot")  # type: ignore[return-value]


def element_clashes(count: int) -> Trio:
    """A keyed list whose every element both sides change."""
    return tuple(  # type: ignore[return-value]
        lines((f"- name: n{n}\n  v: {side}" for n in range(count)), "l:\n") for side in "bot"
    )


def document_clashes(count: int) -> Trio:
    """Documents that both sides change."""
    return tuple(  # type: ignore[return-value]
        lines(f"---\nkind: A\nmetadata: {{name: x{n}}}\nspec: {side}" for n in range(count))
        for side in "bot"
    )


MAP = "{mark}{n}:\n  image: i{n}\n  port: {n}\n  x: {other}"
ELEMENT = "- name: {mark}{n}\n  image: i{n}\n  x: {other}"


def _renamed(count: int, entry: str, head: str, theirs: tuple[str, int]) -> Trio:
    """Entries under new names on our side, and as told on theirs."""
    versions = (("k", 0), ("o", 0), theirs)
    return tuple(  # type: ignore[return-value]
        lines((entry.format(mark=mark, n=n, other=other) for n in range(count)), head)
        for mark, other in versions
    )


def renamed_maps(count: int) -> Trio:
    """Entries with maps, all under new keys on both sides."""
    return _renamed(count, MAP, "services:\n", ("t", 0))


def renamed_by_one(count: int) -> Trio:
    """Entries with maps, all under new keys on our side; all changed on theirs."""
    return _renamed(count, MAP, "services:\n", ("k", 1))


def renamed_keys(count: int) -> Trio:
    """Scalar entries, all under new keys on both sides."""
    return tuple(lines((f"  {s}{n}: v{n}" for n in range(count)), "data:\n") for s in "kot")  # type: ignore[return-value]


def renamed_same_values(count: int) -> Trio:
    """Entries with the same map, all under new keys on both sides."""
    return tuple(  # type: ignore[return-value]
        lines((f"  {s}{n}: {{image: i, port: 1, x: 2}}" for n in range(count)), "data:\n")
        for s in "kot"
    )


def renamed_elements(count: int) -> Trio:
    """Elements of a keyed list, all under new names on both sides."""
    return _renamed(count, ELEMENT, "containers:\n", ("t", 0))


def renamed_elements_by_one(count: int) -> Trio:
    """Elements of a keyed list, all under new names on our side; all changed on theirs."""
    return _renamed(count, ELEMENT, "containers:\n", ("k", 1))


def same_elements_renamed(count: int) -> Trio:
    """Elements that are alike but for their names, all renamed by both."""
    return tuple(  # type: ignore[return-value]
        lines((f"- name: {s}{n}\n  image: i\n  x: 0" for n in range(count)), "containers:\n")
        for s in "kot"
    )


def _resources(names: Iterable[tuple[str, int]], value: str = "0") -> str:
    return lines(
        f"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {mark}{n}\ndata:\n"
        f"  a: v{n}\n  b: {value}"
        for mark, n in names
    )


def renamed_documents(count: int) -> Trio:
    """Documents, all with a new name on both sides."""
    return tuple(_resources((s, n) for n in range(count)) for s in "kot")  # type: ignore[return-value]


def renamed_documents_by_one(count: int) -> Trio:
    """Documents, all with a new name on our side; all changed on theirs."""
    ours = _resources(("o", n) for n in range(count))
    plain = [("k", n) for n in range(count)]
    return _resources(plain), ours, _resources(plain, "1")


def same_documents_renamed(count: int) -> Trio:
    """Documents that are alike but for their names, all renamed by both."""
    return tuple(  # type: ignore[return-value]
        lines(
            "---\napiVersion: v1\nkind: ConfigMap\n"
            f"metadata:\n  name: {s}{n}\ndata:\n  a: v\n  b: 0"
            for n in range(count)
        )
        for s in "kot"
    )


def unnamed_documents(count: int) -> Trio:
    """Documents without any name, all changed by both."""
    return tuple(lines(f"---\na: {n}\nb: {s}\nc: x" for n in range(count)) for s in "bot")  # type: ignore[return-value]


def reversed_documents(count: int) -> Trio:
    """Ours has the documents in reverse, theirs changes them."""
    return _reordered(count, lambda n: n[::-1])


def permuted_documents(count: int) -> Trio:
    """Ours has the documents in another order, theirs changes them."""
    return _reordered(count, _permuted)


def permuted_by_both(count: int) -> Trio:
    """Both sides have the documents in orders of their own."""
    names = [("k", n) for n in range(count)]
    return _resources(names), _resources(_permuted(names)), _resources(_permuted(names, 3571))


def _reordered(count: int, order: Callable[[list[tuple[str, int]]], list[tuple[str, int]]]) -> Trio:
    names = [("k", n) for n in range(count)]
    return _resources(names), _resources(order(names)), _resources(names, "1")


def _permuted(values: list[tuple[str, int]], step: int = 7919) -> list[tuple[str, int]]:
    return [values[n * step % len(values)] for n in range(len(values))]


def permuted_keys(count: int) -> Trio:
    """Both sides have the keys of a map in orders of their own."""
    keys = [("k", n) for n in range(count)]
    three = keys, _permuted(keys), _permuted(keys, 3571)
    return tuple(lines(f"{k}{n}: {n}" for k, n in values) for values in three)  # type: ignore[return-value]


def permuted_elements(count: int) -> Trio:
    """Both sides have the elements of a keyed list in orders of their own."""
    keys = [("k", n) for n in range(count)]
    three = keys, _permuted(keys), _permuted(keys, 3571)
    return tuple(  # type: ignore[return-value]
        lines((f"- name: {k}{n}\n  v: {n}" for k, n in values), "l:\n") for values in three
    )


SET = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"


def a_set(count: int) -> Trio:
    """A set; each side adds and removes every third member."""
    base = [f"- r{n}.yaml" for n in range(count)]
    ours = [line if n % 3 else f"- o{n}.yaml" for n, line in enumerate(base)]
    theirs = [line if n % 3 != 1 else f"- t{n}.yaml" for n, line in enumerate(base)]
    return lines(base, SET), lines(ours, SET), lines(theirs, SET)


def replaced_set(count: int) -> Trio:
    """A set whose every member both sides replace."""
    return tuple(lines((f"- {s}{n}.yaml" for n in range(count)), SET) for s in "bot")  # type: ignore[return-value]


def sequence(count: int) -> Trio:
    """A list of scalars, half changed by each side."""
    base = [f"- v{n}" for n in range(count)]
    ours = [line + "o" if n % 2 else line for n, line in enumerate(base)]
    theirs = [line if n % 2 else line + "t" for n, line in enumerate(base)]
    return lines(base, "l:\n"), lines(ours, "l:\n"), lines(theirs, "l:\n")


def same_scalars(count: int) -> Trio:
    """A list of the same scalar; each side adds some in places of its own."""
    base = ["- v"] * count
    ours = [part for n, v in enumerate(base) for part in ([v, "- o"] if n % 5 == 0 else [v])]
    theirs = [part for n, v in enumerate(base) for part in ([v, "- t"] if n % 7 == 3 else [v])]
    return lines(base, "l:\n"), lines(ours, "l:\n"), lines(theirs, "l:\n")


def two_scalars(count: int) -> Trio:
    """A list of two values in three different orders."""
    return tuple(  # type: ignore[return-value]
        lines((f"- {n * step % 7 % 2}" for n in range(count)), "l:\n") for step in (3, 5, 11)
    )


def permuted_scalars(count: int) -> Trio:
    """Both sides have a list of scalars in orders of their own."""
    keys = [("k", n) for n in range(count)]
    three = keys, _permuted(keys), _permuted(keys, 3571)
    return tuple(lines((f"- {k}{n}" for k, n in values), "l:\n") for values in three)  # type: ignore[return-value]


def replaced_scalars(count: int) -> Trio:
    """A list of scalars, all replaced by both."""
    return tuple(lines((f"- {s}{n}" for n in range(count)), "l:\n") for s in "bot")  # type: ignore[return-value]


def unkeyed_maps(count: int) -> Trio:
    """A list of maps without a key; each side changes every third."""
    return _each(count, lambda n, v: f"- a: {v}\n  b: {n}\n  c: 1", "l:\n")


def unkeyed_replaced(count: int) -> Trio:
    """A list of maps without a key, all changed by both."""
    return tuple(  # type: ignore[return-value]
        lines((f"- a: {s}\n  b: {n}\n  c: 1" for n in range(count)), "l:\n") for s in "bot"
    )


def nested_flow(count: int) -> Trio:
    """Flow lists in each other, 150 deep, one behind another."""
    deep = "[" * 150 + "{}" + "]" * 150
    return _each(count, lambda n, v: f"- {deep.format(v)}", "l:\n")


def too_deep(count: int) -> Trio:
    """One flow list, deeper than anything may be."""
    return tuple(f"l: {'[' * count}{s}{']' * count}\n" for s in "bot")  # type: ignore[return-value]


def deep_blocks(count: int) -> Trio:
    """Block maps in each other, deeper than anything may be."""
    body = "".join(f"{' ' * n}k:\n" for n in range(count))
    return tuple(f"{body}{' ' * count}v: {s}\n" for s in "bot")  # type: ignore[return-value]


def deep_lists(count: int) -> Trio:
    """Block lists in each other on one line."""
    return tuple(f"{'- ' * count}{s}\n" for s in "bot")  # type: ignore[return-value]


def one_line(count: int) -> Trio:
    """JSON in one line; each side changes every third value."""
    made = []
    for side in "bot":
        values = _values(count, side)
        made.append("{" + ", ".join(f'"k{n}": "{v}"' for n, v in enumerate(values)) + "}\n")
    return made[0], made[1], made[2]


def json_lists(count: int) -> Trio:
    """JSON of lists in one line; each side changes every third value."""
    made = []
    for side in "bot":
        values = _values(count, side)
        made.append('{"l": [' + ", ".join(f'[{n}, "{v}"]' for n, v in enumerate(values)) + "]}\n")
    return made[0], made[1], made[2]


def aliases(count: int) -> Trio:
    """An anchor and an alias in every second entry."""
    return _each(count, lambda n, v: f"k{n}: &a{n} {{v: {v}}}\nl{n}: *a{n}", "")


def one_anchor(count: int) -> Trio:
    """One anchor and very many aliases of it."""
    return _each(count, lambda n, v: f"k{n}: *a\nv{n}: {v}", "first: &a {x: 1, y: 2}\n")


def alias_bomb(count: int) -> Trio:
    """Aliases of aliases: a file of nothing that means very much."""
    body = "a0: &a0 [x, x]\n" + lines(
        f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, count)
    )
    return body + "z: b\ny: 1\n", body + "z: o\ny: 1\n", body + "z: b\ny: 2\n"


def comments(count: int) -> Trio:
    """A comment above every entry; each side changes every third."""
    return _each(count, lambda n, v: f"# says {v}\nk{n}: 1", "")


def comment_clashes(count: int) -> Trio:
    """A comment above every entry, all changed by both."""
    return tuple(lines(f"# says {s}\nk{n}: 1" for n in range(count)) for s in "bot")  # type: ignore[return-value]


def only_comments(count: int) -> Trio:
    """Nothing but comments."""
    return _each(count, lambda n, v: f"# {n} {v}", "")


def trailing_comments(count: int) -> Trio:
    """A comment behind every entry; each side changes every third."""
    return _each(count, lambda n, v: f"k{n}: 1 # says {v}", "")


def block_text(count: int) -> Trio:
    """A long text, all of it changed by both."""
    return tuple(lines((f"  line {n} {s}" for n in range(count)), "a: |\n") for s in "bot")  # type: ignore[return-value]


def block_text_thirds(count: int) -> Trio:
    """A long text; each side changes every third line."""
    return _each(count, lambda n, v: f"  line {n} {v}", "a: |\n")


def block_texts(count: int) -> Trio:
    """Many short texts; each side changes every third."""
    return _each(count, lambda n, v: f"k{n}: |\n  one\n  {v}\n  three", "")


def separators_of_unicode(count: int) -> Trio:
    """Line breaks of Unicode in texts."""
    return _each(count, lambda n, v: f'k{n}: "a\u2028b {v}"', "")


def markers(count: int) -> Trio:
    """Conflict markers in all versions."""
    return _each(count, lambda n, v: f"<<<<<<< a\nk{n}: {v}\n=======\n>>>>>>> b", "")


def markers_in_text(count: int) -> Trio:
    """Conflict markers inside a text, where they are data."""
    return _each(count, lambda n, v: f"  <<<<<<< a\n  {n} {v}\n  >>>>>>> b", "a: |\n")


def blank_lines(count: int) -> Trio:
    """Many blank lines between entries."""
    return _each(count, lambda n, v: f"k{n}: {v}\n\n\n\n", "")


def only_blank_lines(count: int) -> Trio:
    """Nothing but blank lines around two fields."""
    gap = "\n" * count
    return f"a: 1{gap}b: 1\n", f"a: 2{gap}b: 1\n", f"a: 1{gap}b: 2\n"


def same_keys(count: int) -> Trio:
    """One key, very often."""
    return _each(count, lambda n, v: f"a: {v}", "")


def list_items(count: int) -> Trio:
    """A `List` of resources; each side changes every third."""
    return _each(
        count,
        lambda n, v: f"- kind: A\n  apiVersion: v1\n  metadata: {{name: x{n}}}\n  spec: {v}",
        "apiVersion: v1\nkind: List\nitems:\n",
    )


def list_items_renamed(count: int) -> Trio:
    """A `List` of resources, all with a new name on both sides."""
    return tuple(  # type: ignore[return-value]
        lines(
            (
                f"- kind: A\n  apiVersion: v1\n  metadata: {{name: {s}{n}}}\n  spec: {n}"
                for n in range(count)
            ),
            "apiVersion: v1\nkind: List\nitems:\n",
        )
        for s in "kot"
    )


def new_keys(count: int) -> Trio:
    """Both sides add their own keys to nothing."""
    return tuple(
        lines((f"  {s}{n}: v" for n in range(c)), "data:\n  a: 1\n")
        for s, c in zip("bot", (0, count, count), strict=True)
    )  # type: ignore[return-value]


def new_documents(count: int) -> Trio:
    """Both sides add their own documents to nothing."""
    ours = _resources(("o", n) for n in range(count))
    theirs = _resources((("t", n + count) for n in range(count)), "1")
    return "", ours, theirs


def new_file(count: int) -> Trio:
    """Both sides add the file, and every second entry is different."""
    _, ours, theirs = clashes(count)
    return "", ours, theirs


def indented_anew(count: int) -> Trio:
    """Theirs indents every list anew; ours changes every third."""
    base, ours, _ = _each(count, lambda n, v: f"k{n}:\n- {v}\n- x", "")
    return base, ours, base.replace("\n- ", "\n  - ")


def gone_by_one(count: int) -> Trio:
    """Ours deletes every second entry, theirs changes all."""
    base = [f"k{n}: {n}" for n in range(count)]
    return lines(base), lines(base[::2]), lines(line + "t" for line in base)


def crlf(count: int) -> Trio:
    """Line ends of Windows on our side alone."""
    base, ours, theirs = scalars(count)
    return base, ours.replace("\n", "\r\n"), theirs


def long_line(count: int) -> Trio:
    """One scalar of a megabyte on one line."""
    words = "word - a: b # c {d} [e] 'f' \\ " * (count // 30)
    return tuple(f"a: 1\nb: '{side}{words.replace(chr(39), chr(39) * 2)}'\n" for side in "bot")  # type: ignore[return-value]


def huge_keys(count: int) -> Trio:
    """Keys of 900 characters; each side changes every third."""
    return _each(count, lambda n, v: f"k{n}{'y' * 900}: {v}", "")


def one_name(count: int) -> Trio:
    """Documents that are all one resource; each side changes every third."""
    return _each(
        count, lambda n, v: f"---\nkind: A\nmetadata: {{name: x}}\nspec: {v}\nend: {n}", ""
    )


def one_name_alike(count: int) -> Trio:
    """Documents that are all one resource and the same; each side adds some."""
    text = "---\nkind: A\nmetadata: {name: x}\nspec: 1\n"
    return text * count, text * (count + 1), text * (count + 2) + "end: 1\n"


def alike_permuted(count: int) -> Trio:
    """Elements without a key that are nearly the same, in orders of their own on both sides."""
    keys = [("k", n) for n in range(count)]
    three = keys, _permuted(keys), _permuted(keys, 3571)
    return tuple(  # type: ignore[return-value]
        lines((f"- a: 1\n  b: 2\n  c: {n // 2}" for _, n in values), "l:\n") for values in three
    )


def directives(count: int) -> Trio:
    """A directive in front of every document."""
    return _each(count, lambda n, v: f"%YAML 1.1\n---\na{n}: {v}\n...", "")


def ends_mixed(count: int) -> Trio:
    """Line ends of all three sorts in one file."""
    base, ours, theirs = scalars(count)
    return base.replace("3: x\n", "3: x\r\n"), ours.replace("5: x\n", "5: x\r"), theirs


def tabs_and_blanks(count: int) -> Trio:
    """Blanks and tabs behind everything."""
    return _each(count, lambda n, v: f"k{n}: {v}{' ' * 10}\t\t  # c", "")


def broken(count: int) -> Trio:
    """Return what is nearly YAML, with an error in the last line."""
    made = _each(count, lambda n, v: f"k{n}: [{v}, 'a', \"b\", {{c: d}}]", "")
    return made[0] + "'\n", made[1] + "'\n", made[2] + "'\n"


def backtracking(count: int) -> Trio:
    """Runs that a careless pattern goes through again and again."""
    run = "a-" * 100 + "$(" * 50 + " " * 50 + "1" * 100 + "{" * 10
    return _each(count, lambda n, v: f"k{n}: '{v}{run}!'", "")


def _workload(containers: Iterable[str], more: str = "") -> str:
    head = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n"
    return lines(containers, f"{head}  template:\n    spec:\n{more}      containers:\n")


def containers(count: int) -> Trio:
    """A Deployment's containers, each with variables; both sides permute and change them."""
    keys = [("k", n) for n in range(count)]

    def one(n: int, v: str) -> str:
        env = "".join(f"        - name: E{e}\n          value: {v}\n" for e in range(2))
        return f"      - name: c{n}\n        image: i:{v}\n        env:\n{env}"[:-1]

    three = zip("bot", (keys, _permuted(keys), _permuted(keys, 3571)), strict=True)
    return tuple(_workload(one(n, v) for _, n in order) for v, order in three)  # type: ignore[return-value]


def many_variables(count: int) -> Trio:
    """One container with very many variables and ports, other ones on each side."""

    def one(side: str, shift: int) -> str:
        env = "".join(
            f"        - name: E{n + shift}\n          value: {side}\n" for n in range(count)
        )
        ports = "".join(f"        - containerPort: {n + shift}\n" for n in range(count))
        return f"      - name: c\n        env:\n{env}        ports:\n{ports}"[:-1]

    third = count // 3
    return tuple(_workload([one(*made)]) for made in zip("bot", (0, third, -third), strict=True))  # type: ignore[return-value]


def patch_directives(count: int) -> Trio:
    """A patch that is theirs alone: it deletes and orders very many variables."""
    base, ours, _ = many_variables(count)
    env = "".join(f"        - name: E{n}\n          $patch: delete\n" for n in range(count))
    order = "".join(f"        - name: E{n}\n" for n in range(count))
    made = f"      - name: c\n        env:\n{env}        $setElementOrder/env:\n{order}"[:-1]
    return base, ours, _workload([made])


def replaced_lists(count: int) -> Trio:
    """Patches that replace lists inside lists, of a List of Deployments."""

    def text(side: str) -> str:
        return "".join(
            f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{n}}}\nspec:\n"
            f"  containers:\n  - $patch: replace\n  - name: {side}\n"
            for n in range(count)
        )

    return tuple(map(text, "bot"))  # type: ignore[return-value]


def kustomization(count: int) -> Trio:
    """A kustomization with very many resources, images and generators."""

    def part(n: int, v: str) -> str:
        return f"- name: i{n}\n  newTag: {v}"

    head = SET + "".join(f"- r{n}.yaml\n" for n in range(count)) + "patches:\n"
    head += "".join(f"- path: p{n}.yaml\n  target: {{name: n{n}}}\n" for n in range(count))
    return _each(count, part, head + "images:\n")


def operations(count: int) -> Trio:
    """A JSON patch of very many operations."""
    return _each(count, lambda n, v: f"- op: add\n  path: /spec/a{n}\n  value: {v}", "")


def actions(count: int) -> Trio:
    """A template whose every line has an action, as many as are looked at."""
    return _each(count, lambda n, v: f"a{n}: {{{{ .Values.x{n} }}}}{v}", "kind: A\n")


def template_blocks(count: int) -> Trio:
    """A template of very many blocks, one behind another."""
    return _each(count, lambda n, v: f"{{{{- if .a{n} }}}}\nk{n}: {v}\n{{{{- end }}}}", "kind: A\n")


def deep_template(count: int) -> Trio:
    """A template of blocks in blocks."""
    opened = "".join(f"{{{{- if .a{n} }}}}\nk{n}: 1\n" for n in range(count))
    closed = "{{- end }}\n" * count
    more = "".join(f"x{n}: 1 # {'y' * 80}\n" for n in range(1400))
    return tuple(f"{opened}z: {side}\n{closed}{more}y: {side}\n" for side in "bot")  # type: ignore[return-value]


def renamed_flow_keys(count: int) -> Trio:
    """Flow maps, all keys of which both sides rename."""
    return tuple(  # type: ignore[return-value]
        lines((f"- {{{s}a{n}: {n}, {s}b{n}: x}}" for n in range(count)), "l:\n") for s in "kot"
    )


def _each(count: int, line: Callable[[int, str], str], head: str) -> Trio:
    """A line for each number; each side changes every third."""
    made = [lines((line(n, v) for n, v in enumerate(_values(count, s))), head) for s in "bot"]
    return made[0], made[1], made[2]


def _values(count: int, side: str) -> list[str]:
    third = {"b": -1, "o": 0, "t": 1}[side]
    return [f"x{side}" if n % 3 == third else "x" for n in range(count)]


# Inputs that are what they are by their name.
FILES = {"kustomization": "kustomization.yaml", "actions": "templates/a.yaml"}

SHAPES: dict[str, tuple[Callable[[int], Trio], int]] = {
    "flow maps": (flow_maps, 40_000),
    "one flow list": (flow_list, 40_000),
    "--- lines": (separators, 200_000),
    "tiny documents": (tiny_documents, 90_000),
    "tiny resources": (tiny_resources, 18_000),
    "templates": (templates, 50_000),
    "one template": (one_template, 50_000),
    "scalars": (scalars, 60_000),
    "clashes": (clashes, 60_000),
    "all clash": (all_clash, 90_000),
    "element clashes": (element_clashes, 38_000),
    "document clashes": (document_clashes, 18_000),
    "renamed maps": (renamed_maps, 20_000),
    "renamed maps by one": (renamed_by_one, 20_000),
    "renamed keys": (renamed_keys, 50_000),
    "renamed same values": (renamed_same_values, 20_000),
    "renamed elements": (renamed_elements, 20_000),
    "renamed elements by one": (renamed_elements_by_one, 20_000),
    "same elements renamed": (same_elements_renamed, 20_000),
    "renamed documents": (renamed_documents, 10_000),
    "renamed documents by one": (renamed_documents_by_one, 10_000),
    "same documents renamed": (same_documents_renamed, 10_000),
    "unnamed documents": (unnamed_documents, 35_000),
    "reversed documents": (reversed_documents, 10_000),
    "permuted documents": (permuted_documents, 10_000),
    "permuted by both": (permuted_by_both, 10_000),
    "permuted keys": (permuted_keys, 60_000),
    "permuted elements": (permuted_elements, 38_000),
    "a set": (a_set, 50_000),
    "replaced set": (replaced_set, 50_000),
    "sequence": (sequence, 90_000),
    "same scalars": (same_scalars, 190_000),
    "two scalars": (two_scalars, 240_000),
    "permuted scalars": (permuted_scalars, 100_000),
    "replaced scalars": (replaced_scalars, 100_000),
    "unkeyed maps": (unkeyed_maps, 30_000),
    "unkeyed replaced": (unkeyed_replaced, 30_000),
    "nested flow": (nested_flow, 3_000),
    "too deep": (too_deep, 400_000),
    "deep blocks": (deep_blocks, 1_300),
    "deep lists": (deep_lists, 400_000),
    "one line": (one_line, 40_000),
    "json lists": (json_lists, 50_000),
    "aliases": (aliases, 26_000),
    "one anchor": (one_anchor, 40_000),
    "alias bomb": (alias_bomb, 29_000),
    "comments": (comments, 40_000),
    "comment clashes": (comment_clashes, 40_000),
    "only comments": (only_comments, 90_000),
    "trailing comments": (trailing_comments, 40_000),
    "block text": (block_text, 55_000),
    "block text thirds": (block_text_thirds, 50_000),
    "block texts": (block_texts, 25_000),
    "breaks of Unicode": (separators_of_unicode, 40_000),
    "markers": (markers, 25_000),
    "markers in a text": (markers_in_text, 25_000),
    "blank lines": (blank_lines, 60_000),
    "only blank lines": (only_blank_lines, 900_000),
    "same keys": (same_keys, 120_000),
    "list items": (list_items, 13_000),
    "list items renamed": (list_items_renamed, 13_000),
    "new keys": (new_keys, 70_000),
    "new documents": (new_documents, 10_000),
    "new file": (new_file, 60_000),
    "indented anew": (indented_anew, 40_000),
    "gone by one": (gone_by_one, 60_000),
    "crlf": (crlf, 60_000),
    "long line": (long_line, 950_000),
    "huge keys": (huge_keys, 1_050),
    "one name": (one_name, 18_000),
    "one name, alike": (one_name_alike, 20_000),
    "alike and permuted": (alike_permuted, 30_000),
    "directives": (directives, 35_000),
    "mixed ends": (ends_mixed, 60_000),
    "tabs and blanks": (tabs_and_blanks, 30_000),
    "broken": (broken, 28_000),
    "backtracking": (backtracking, 2_000),
    "containers": (containers, 6_500),
    "many variables": (many_variables, 13_000),
    "patch directives": (patch_directives, 11_000),
    "replaced lists": (replaced_lists, 7_500),
    "kustomization": (kustomization, 12_000),
    "operations": (operations, 20_000),
    "actions": (actions, 3_900),
    "template blocks": (template_blocks, 1_900),
    "deep template": (deep_template, 195),
    "renamed flow keys": (renamed_flow_keys, 30_000),
}

if __name__ == "__main__":
    sys.exit(main())
