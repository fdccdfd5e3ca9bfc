"""The rows of the table: a piece of work, and what its time is a ratio to."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import histories
import texts
from histories import git
from texts import Trio
from timing import Command, Tree, library

INSIDE = str(Path(__file__).resolve().parent / "inside.py")
Make = Callable[[Tree, Path], Command]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Hold what a row is compared with."""

    to: str
    ruler: Make
    goal: float | None = None
    is_wall: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A piece of work, made in a folder of its own, and timed in there."""

    name: str
    prepare: Callable[[Path], None]
    subject: Make
    ratios: tuple[Ratio, ...]
    share: tuple[int, str] = (1, "")  # over how many of what its time is shared: (200, "file")


def rows() -> Iterator[Row]:
    """All rows, in the order of the table."""
    yield from starts()
    yield from large_files()
    yield from long_lists()
    yield from job_configurations()
    yield from templates()
    yield from whole_merges()
    yield from other_commands()


def no_preparation(folder: Path) -> None:
    """Make an empty repository, because git calls its drivers at the top of one."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")


# -- the driver


def driver_row(
    name: str, make: Callable[[], Trio], goal: float | None, *, conflicts: bool = False
) -> Row:
    """The driver's process, beside `git merge-file` of the same three files."""
    subject = partial(driver, codes=(3,) if conflicts else (0,))
    ratio = Ratio("`git merge-file`", git_merge_file, goal)
    return Row(name, partial(three_files, make), subject, (ratio,))


def three_files(make: Callable[[], Trio], folder: Path) -> None:
    """Write the files as git's temporary ones; `ours` is what A is before it is merged."""
    no_preparation(folder)
    for name, text in zip(("O", "ours", "B"), make(), strict=True):
        (folder / name).write_text(text)


OURS_AGAIN = ("cp", "ours", "A")


def driver(tree: Tree, folder: Path, codes: tuple[int, ...] = (0,)) -> Command:
    """The driver's process alone, without the shell of the registered line."""
    argv = (
        *(sys.executable, "-I", "-S", str(tree.driver), f"--lib={library()}"),
        *("--marker-size=7", "--path=a.yaml", "O", "A", "B"),
    )
    return Command(argv, folder, before=OURS_AGAIN, codes=codes)


def git_merge_file(_: Tree, folder: Path) -> Command:
    argv = ("git", "merge-file", "-p", "-q", "A", "O", "B")
    return Command(argv, folder, before=OURS_AGAIN, codes=tuple(range(128)))


def registered(tree: Tree, folder: Path) -> Command:
    """The registered line as git calls it, its placeholders filled in."""
    line = tree.registered()
    filled = {"%O": "O", "%A": "A", "%B": "B", "%L": "7", "%P": "a.yaml"}
    for placeholder, value in {**filled, "%S": "base", "%X": "ours", "%Y": "theirs"}.items():
        line = line.replace(placeholder, value)
    return Command(("sh", "-c", line.replace("%%", "%")), folder, before=OURS_AGAIN)


PASS = f"'{sys.executable}' -I -c pass"


def bare_start(_: Tree, folder: Path) -> Command:
    """A start of Python through a shell that does nothing else, as git would call it."""
    return Command(("sh", "-c", PASS), folder)


def starts() -> Iterator[Row]:
    """Small files, where the start is most of the time."""
    made: list[tuple[str, Callable[[], Trio], float]] = [
        (
            "Deployment of 5 KB, merged by the driver command in git's configuration",
            texts.small,
            1.4,
        ),
        ("5 KB of scripts, a function that both sides added", texts.scripts, 2.0),
        ("5 KB Deployment, both deleted lines that are elsewhere, too", texts.deleted, 2.0),
    ]
    for name, make, goal in made:
        to = "`sh -c 'python -I -c pass'`"
        prepare = partial(three_files, make)
        yield Row(name, prepare, registered, (Ratio(to, bare_start, goal),))


def large_files() -> Iterator[Row]:
    """Large files, of which little is changed."""
    yield driver_row(
        "file of 2.3 MB, each side changed a different document", texts.one_sided, 1.05
    )
    yield driver_row("file of 3.5 MB, a document added by one side", texts.one_more, 6)
    yield driver_row("file of 3.5 MB, two documents of 1 MB by both sides", texts.two_large, 12)
    yield driver_row(
        "file of 3.5 MB, both sides changed the same twenty documents", texts.twenty_doubtful, 4
    )
    yield driver_row(
        "CRD of 1.1 MB, changed by both sides", partial(texts.definition, 1_100_000), 4
    )
    yield driver_row("ConfigMap with a text of 1 MB", partial(texts.long_text, 16_000), 6)


def long_lists() -> Iterator[Row]:
    """Lists of many elements, one changed by each side."""
    yield driver_row("list of 2,000 elements with keys", partial(texts.keyed, 2000), 6)
    yield driver_row("list of 2,000 elements without keys", partial(texts.unkeyed, 2000), 6)


def job_configurations() -> Iterator[Row]:
    """Large files of which both sides change many places, without the start."""
    for size, edits, goal, twice in (
        (400_000, 6, 9, ""),
        (600_000, 30, 9, ""),
        (600_000, 30, 9, ", names twice"),
        (800_000, 80, 20, ""),
    ):
        name = f"job configuration of {size // 1000} KB, {edits} edits by each side{twice}"
        make = partial(texts.job_configuration, size, edits, repeated=bool(twice))
        ratio = Ratio("libyaml's events of the three versions", read_events, goal)
        yield Row(name, partial(three_files, make), merge_inside, (ratio,))


def merge_inside(tree: Tree, folder: Path) -> Command:
    argv = (sys.executable, INSIDE, "merge", "O", "ours", "B")
    return Command(argv, folder, env=tree.env, reports=True)


def read_events(_: Tree, folder: Path) -> Command:
    argv = (sys.executable, INSIDE, "events", "O", "ours", "B")
    return Command(argv, folder, reports=True)


def templates() -> Iterator[Row]:
    """Templates of Helm, which have no fields."""
    small = partial(texts.template, 40)
    many, one = partial(texts.chart, 13, 40), partial(texts.template, 490)
    for name, make, edit, goal in (
        ("template of 5 KB, git clean", small, texts.template_lines, 30),
        ("template of 5 KB, git conflicts, blocks do not", small, texts.template_blocks, 150),
        ("template of 60 KB, 13 documents, git clean", many, texts.template_lines, None),
        (
            "Helm template of 60 KB, in which git has a conflict in each document",
            many,
            texts.template_blocks,
            40,
        ),
        ("template of 50 KB, one document, git clean", one, texts.template_lines, None),
        ("template of 50 KB, one document, git conflicts", one, texts.template_blocks, 60),
    ):
        yield driver_row(name, lambda edit=edit, make=make: edit(make()), goal)
    conflict = texts.template_conflict(small())
    yield driver_row("template of 5 KB, a conflict of both", lambda: conflict, 150, conflicts=True)


# -- merges of repositories

FROM_START = ("git", "reset", "-q", "--hard", "start")


def two_hundred(folder: Path) -> None:
    histories.forked(folder, many_small(200))


def many_small(count: int) -> dict[str, Trio]:
    base, ours, theirs = texts.small()
    return {
        f"apps/{n // 100}/f{n}.yaml": (
            base.replace("name: web", f"name: web{n}"),
            ours.replace("name: web", f"name: web{n}"),
            theirs.replace("name: web", f"name: web{n}"),
        )
        for n in range(count)
    }


def twenty_thousand(folder: Path) -> None:
    others = {f"more/{n // 100}/f{n}.yaml": texts.small()[0] for n in range(19_995)}
    histories.forked(folder, many_small(5), others)


def git_merge(line: Callable[[Tree], str], tree: Tree, folder: Path) -> Command:
    """`git merge` with a driver of this line."""
    setting = ("-c", "merge.kmerge.name=bench", "-c", f"merge.kmerge.driver={line(tree)}")
    argv = ("git", *setting, "merge", "-q", "--no-edit", "side")
    return Command(argv, folder, before=FROM_START)


def with_driver(tree: Tree, folder: Path) -> Command:
    return git_merge(Tree.registered, tree, folder)


def with_nothing(tree: Tree, folder: Path) -> Command:
    return git_merge(lambda _: f'"{sys.executable}" -I -S -c pass', tree, folder)


def switched_off(tree: Tree, folder: Path) -> Command:
    return git_merge(lambda tree: "KMERGE=0;" + tree.registered(), tree, folder)


def with_lines(tree: Tree, folder: Path) -> Command:
    return git_merge(lambda _: "git merge-file %A %O %B", tree, folder)


def without_driver(_: Tree, folder: Path) -> Command:
    return Command(("git", "merge", "-q", "--no-edit", "side"), folder, before=FROM_START)


def kmerge_merge(tree: Tree, folder: Path) -> Command:
    argv = tree.kmerge("merge", "-q", "--no-edit", "side")
    return Command(argv, folder, env=tree.env, before=FROM_START)


def whole_merges() -> Iterator[Row]:
    """Merges of whole repositories."""
    yield Row(
        "`git merge` of 200 files of 5 KB",
        two_hundred,
        with_driver,
        (Ratio("with a driver that only runs `python -I -S -c pass`", with_nothing, 1.7),),
        share=(200, "file"),
    )
    yield Row(
        "`git merge` of 200 files with `KMERGE=0`",
        two_hundred,
        switched_off,
        (Ratio("a driver that is `git merge-file`", with_lines, 1.1),),
        share=(200, "file"),
    )
    yield Row(
        "`kmerge merge` of 200 files of 5 KB",
        two_hundred,
        kmerge_merge,
        (
            Ratio("`git merge` with the driver", with_driver, 0.3),
            Ratio("`git merge` with the driver, wall clock", with_driver, 0.25, is_wall=True),
        ),
        share=(200, "file"),
    )
    yield Row(
        "`kmerge merge` of 20,000 files, 5 changed",
        twenty_thousand,
        kmerge_merge,
        (Ratio("`git merge` without a driver", without_driver),),
    )
    yield refresh()


def refresh() -> Row:
    """200 branches in 20,000 files: git would conflict in every branch, and kmerge does not."""

    def prepare(folder: Path) -> None:
        base, ours, _ = texts.small()
        theirs = base.replace("replicas: 3\n", "replicas: 3\n  paused: true\n")
        histories.many_branches(folder / "start", 20_000, 200, base, (base, ours, theirs))
        shutil.copytree(folder / "start", folder / "now", symlinks=True)

    before = ("sh", "-c", "rm -rf ../now/* && cp -R ../start/. .")
    words = ("refresh", "--with", "main", "--branches", "b/*")

    def subject(tree: Tree, folder: Path, cores: int = 0) -> Command:
        argv = tree.kmerge(*words)
        return Command(argv, folder / "now", env=tree.env, before=before, cores=cores)

    def share(tree: Tree, folder: Path) -> Command:
        argv = (sys.executable, INSIDE, "share", "merge-tree", "--", *tree.kmerge(*words))
        return Command(argv, folder / "now", env=tree.env, before=before, reports=True)

    def plain(_: Tree, folder: Path) -> Command:
        loop = "for n in $(seq 0 199); do git merge-tree --write-tree main b/$n; done; exit 0"
        return Command(("sh", "-c", loop), folder / "now", before=before)

    return Row(
        "`kmerge refresh` of 200 branches, 20,000 files",
        prepare,
        subject,
        (
            Ratio("one `git merge-tree` for each branch", plain),
            Ratio("its calls of `git merge-tree` alone", share, 1.5),
            Ratio("the same on one core, wall clock", partial(subject, cores=1), 0.6, is_wall=True),
        ),
        share=(200, "branch"),
    )


# -- the other commands


def other_commands() -> Iterator[Row]:
    """Checks, differences, replays, packages, patches."""
    yield from checks()
    yield differences()
    yield questions()
    yield replay()
    yield update()
    yield Row(
        "`kmerge merge3` of 1,000 documents, 20 by each side",
        partial(three_files, partial(texts.services, 1000, both=True)),
        merge3,
        (Ratio("`git merge-file`", git_merge_file, 10),),
    )
    if shutil.which("kubectl"):
        yield patches()


def checks() -> Iterator[Row]:
    """`kmerge check` of files, and of a merge."""
    trio = texts.small()
    head = ("check", "--quiet")

    def files(count: int, folder: Path) -> None:
        no_preparation(folder)
        for n in range(count):
            (folder / f"f{n}.yaml").write_text(trio[0].replace("name: web", f"name: web{n}"))

    def check(tree: Tree, folder: Path) -> Command:
        return Command(tree.kmerge(*head, "."), folder, env=tree.env)

    def of_merge(tree: Tree, folder: Path) -> Command:
        argv = tree.kmerge(*head, "--merge-of", "HEAD")
        return Command(argv, folder, env=tree.env, codes=(0, 1))

    start = "`sh -c 'python -I -c pass'`"
    yield Row(
        "`kmerge check` of one file", partial(files, 1), check, (Ratio(start, bare_start, 4),)
    )
    yield Row(
        "`kmerge check` of 1,000 files",
        partial(files, 1000),
        check,
        (Ratio(start, bare_start),),
        share=(1000, "file"),
    )
    yield Row(
        "`kmerge check --merge-of`, 500 files taken from one side",
        lambda folder: histories.taken_from_ours(folder, many_small(500)),
        of_merge,
        (Ratio("`git diff` of the merge and its sides", git_diffs, 124),),
        share=(500, "file"),
    )


def git_diffs(_: Tree, folder: Path) -> Command:
    return Command(("sh", "-c", "git diff HEAD^1 HEAD; git diff HEAD^2 HEAD; exit 0"), folder)


def differences() -> Row:
    def kmerge_diff(tree: Tree, folder: Path) -> Command:
        return Command(tree.kmerge("diff", "start", "side"), folder, env=tree.env)

    def git_diff(_: Tree, folder: Path) -> Command:
        return Command(("git", "diff", "start", "side"), folder)

    return Row(
        "`kmerge diff` of 2,000 changed files",
        lambda folder: histories.forked(folder, many_small(2000)),
        kmerge_diff,
        (Ratio("`git diff`", git_diff, 48),),
        share=(2000, "file"),
    )


def questions() -> Row:
    """Until the first question of `kmerge resolve`: 40 files, 80 conflicts."""

    def prepare(folder: Path) -> None:
        base = texts.small()[0]
        files = {
            f"f{n}.yaml": (
                base.replace("name: web", f"name: web{n}"),
                *(
                    base.replace("name: web", f"name: web{n}")
                    .replace("replicas: 3", f"replicas: {side}")
                    .replace("image: app:1", f"image: app:1.{side}")
                    for side in (5, 6)
                ),
            )
            for n in range(40)
        }
        histories.stopped(folder, files)

    def asks(tree: Tree, folder: Path) -> Command:
        argv = (sys.executable, INSIDE, "questions", "0")
        return Command(argv, folder, env=tree.env, reports=True)

    start = Ratio("`sh -c 'python -I -c pass'`", bare_start)
    name = "`kmerge resolve`: the first question of 80 in 40 files"
    return Row(name, prepare, asks, (start,))


def replay() -> Row:
    """20 merges of 50 files each, all in conflict under git."""

    def prepare(folder: Path) -> None:
        base, ours, theirs = texts.small()
        port = "      containers:\n      - name: {0}\n        image: {0}:1\n"
        own, other = port.format("own"), port.format("other")
        both = own + other.removeprefix("      containers:\n")
        ours, result, theirs = (
            text.replace("      containers:\n", more)
            for text, more in ((ours, own), (theirs, both), (theirs, other))
        )
        result = result.replace("replicas: 3", "replicas: 5")
        merges = [
            {
                f"apps/f{n}.yaml": (
                    f"# {number}\n{base}",
                    f"# {number}\n{ours}",
                    f"# {number}\n{theirs}",
                    f"# {number}\n{result}",
                )
                for n in range(50)
            }
            for number in range(20)
        ]
        histories.past_merges(folder, merges)

    def replays(tree: Tree, folder: Path) -> Command:
        return Command(tree.kmerge("replay", "--jobs", "1"), folder, env=tree.env, codes=(0, 1))

    def by_git(_: Tree, folder: Path) -> Command:
        merges, one = "git rev-list --merges HEAD", "git merge-tree --write-tree $m^1 $m^2"
        loop = f"{merges} | while read m; do {one}; done; exit 0"
        return Command(("sh", "-c", loop), folder)

    ratio = Ratio("`git merge-tree` of the same", by_git)
    name = "`kmerge replay` of 20 merges of 50 files"
    return Row(name, prepare, replays, (ratio,), share=(1000, "file"))


def update() -> Row:
    """A package of 500 files: upstream changed 20, so did the copy; 10 are the same ones."""

    def text(number: int, changed: range, **fields: str) -> str:
        return texts.service(number, **(fields if number in changed else {}))

    def write(folder: Path, changed: range, **fields: str) -> None:
        for number in range(500):
            file = folder / f"team-{number // 25}" / f"service-{number}.yaml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text(number, changed, **fields))

    def prepare(folder: Path) -> None:
        folder.mkdir(parents=True)
        upstream = folder / "upstream"
        upstream.mkdir()
        git(upstream, "init", "-q", "-b", "main")
        for tag, changed in (("v1", range(0)), ("v2", range(0, 500, 25))):
            write(upstream, changed, tag="1.1.0")
            git(upstream, "add", "-A")
            git(upstream, "commit", "-q", "-m", tag)
            git(upstream, "tag", tag)
        git(folder, "clone", "-q", str(upstream), "branch")
        git(folder / "branch", "checkout", "-q", "-B", "mine", "v1")
        (folder / "copy").mkdir()
        git(folder / "copy", "init", "-q", "-b", "main")
        add = ("vendor", "add", "../upstream", "app", "--ref", "v1")
        argv = [sys.executable, "-P", "-m", "kmerge_git", *add]
        subprocess.run(argv, cwd=folder / "copy", check=True, capture_output=True)
        for repository, files in (("branch", "branch"), ("copy", "copy/app")):
            write(folder / files, range(0, 500, 50), replicas="3")
            write_more = folder / files / "team-0" / "service-1.yaml"
            write_more.write_text(text(1, range(2), replicas="3"))
            git(folder / repository, "add", "-A")
            git(folder / repository, "commit", "-q", "-m", "local")
            git(folder / repository, "tag", "start")
        (folder / "branch/.git/info/attributes").write_text("*.yaml merge=kmerge\n")

    again = ("sh", "-c", "git reset -q --hard start && git clean -qfdx")

    def vendor(tree: Tree, folder: Path) -> Command:
        argv = tree.kmerge("vendor", "update", "app", "--ref", "v2")
        return Command(argv, folder / "copy", env=tree.env, before=again)

    def by_git(tree: Tree, folder: Path) -> Command:
        setting = ("-c", "merge.kmerge.name=x", "-c", f"merge.kmerge.driver={tree.registered()}")
        argv = ("git", *setting, "merge", "-q", "--no-edit", "v2")
        return Command(argv, folder / "branch", before=again)

    ratio = Ratio("`git merge` with the driver of the same", by_git, 3)
    return Row("`kmerge vendor update` of 500 files, 20 changed", prepare, vendor, (ratio,))


def merge3(tree: Tree, folder: Path) -> Command:
    names = ("--original", "O", "--updated", "B", "--dest", "A", "-o", "out.yaml")
    return Command(tree.kmerge("merge3", *names), folder, env=tree.env, before=OURS_AGAIN)


def patches() -> Row:
    """Patches in one process, each beside a process of kubectl."""

    def prepare(folder: Path) -> None:
        no_preparation(folder)
        (folder / "target.yaml").write_text(texts.small()[0])
        change = "spec: {template: {spec: {containers: [{name: app, image: 'app:2'}]}}}\n"
        (folder / "patch.yaml").write_text(change)

    def apply(tree: Tree, folder: Path) -> Command:
        argv = (sys.executable, INSIDE, "patch", "1000")
        return Command(argv, folder, env=tree.env, reports=True)

    def kubectl(_: Tree, folder: Path) -> Command:
        words = ("patch", "--local", "-f", "target.yaml", "--type=strategic")
        argv = ("kubectl", *words, "--patch-file", "patch.yaml", "-o", "json")
        return Command(argv, folder)

    name = "1,000 strategic merge patches by `apply_patch`"
    return Row(
        name,
        prepare,
        apply,
        (Ratio("one `kubectl patch --local`", kubectl, 50),),
        share=(1000, "patch"),
    )
