"""The generated repositories of `tools/snapshot.py commands`, and what is run in each of them.

A play takes random choices, a scene and its number: it makes a repository there and runs commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

from history import Files, Merge, every_kind, write_history
from manifests import deployment, service, stream
from mutations import FOUND, PATCHES
from random_conflicts import conflict_trio
from random_damage import KINDS as DAMAGES
from random_damage import Damage, damage
from random_damage import Merge as Damaged
from snapshot_commands import HERE
from strategies import trio
from worlds.template_edits import edits
from worlds.template_files import FILES as TEMPLATES
from worlds.template_model import STYLES, written

if TYPE_CHECKING:
    from snapshot_commands import Scene
    from world import Repo

Versions = dict[str, tuple[str | None, str | None, str | None]]  # base, ours and theirs of a file
SIDES = ("ours", "theirs", "both", "base", "higher")
COMMANDS = (
    *("install", "uninstall", "status", "doctor", "merge", "preview", "solve", "resolve"),
    *("explain", "refresh", "replay", "policy", "diff", "check", "merge-file", "merge2", "merge3"),
    *("mergetool", "vendor", "patch", "make-patch", "apply", "last-applied", "completion"),
    *("vendor add", "vendor update", "vendor status", "vendor diff", "vendor list", "policy try"),
)
NO_COMMANDS = (
    ["mrege"],
    [],
    ["solve", "--favour=x"],
    ["vendor", "ad"],
    ["check", "--explain", "D"],
)
SETTINGS = (
    *([("kmerge.policy", "apps/* **.image higher")], [("kmerge.policy", "* **.replicas theirs")]),
    *(
        [("kmerge.favor", "ours")],
        [("kmerge.conflictStyle", "zdiff3")],
        [("kmerge.rules", "kyaml")],
    ),
    *([("merge.conflictStyle", "diff3")], [("kmerge.policy", "*")], [("kmerge.timeout", "0")]),
    *[[]] * 12,
)


# -- files that two sides have changed


def several(r: Random, least: int = 1, most: int = 4) -> Versions:
    """The versions of some files of a repository."""
    files: Versions = {"README.md": ("# read\n",) * 3}
    for number in range(r.randint(least, most)):
        files |= r.choice(CHANGES)(r, number)
    return files


def any_manifest(r: Random, number: int) -> Versions:
    """A file of any kind after random edits of both sides."""
    return {f"apps/any-{number}.yaml": decoded(trio(r, 3))}


def clashing(r: Random, number: int) -> Versions:
    """A file whose sides edit one collection."""
    return {f"apps/clash-{number}.yaml": decoded(conflict_trio(r))}


def fields(r: Random, number: int) -> Versions:
    """A Deployment of which each side changes some fields."""

    def version() -> str:
        env = r.sample(["A=1", "A=2", "B=1", "B=2", "C=3"], r.randint(1, 3))
        return deployment(r.randint(1, 3), f"app:{r.choice(['1', '1.2', '1.10', 'x'])}", tuple(env))

    return {f"apps/web-{number}.yaml": (deployment(), version(), version())}


def template(r: Random, number: int) -> Versions:
    """A template of a chart."""
    made = TEMPLATES[r.choice(sorted(TEMPLATES))]
    style = STYLES[r.choice(sorted(STYLES))]
    trees = [made.root, *(r.choice(list(edits(made, side))).tree for side in ("ours", "theirs"))]
    base, ours, theirs = (written(tree, style) for tree in trees)
    return {made.path.replace("a.yaml", f"t{number}.yaml"): decoded((base, ours, theirs))}


def chart(r: Random, number: int) -> Versions:
    """The version and the values of a chart."""
    versions = [f"{r.randint(1, 2)}.{r.randint(0, 9)}.{r.randint(0, 9)}" for _ in "bot"]
    head = "apiVersion: v2\nname: x\n"
    charts = [f"{head}version: {v}\nappVersion: '{v}'\n" for v in versions]
    values = [f"image:\n  tag: {v}\nreplicas: {r.randint(1, 3)}\n" for v in versions]
    return {"charts/x/Chart.yaml": tuple(charts), "charts/x/values.yaml": tuple(values)}


def added(r: Random, number: int) -> Versions:
    """A file that both sides add."""
    return {f"net/new-{number}.yaml": (None, service(80), service(r.choice([80, 81])))}


def deleted(r: Random, number: int) -> Versions:
    """A file that one side deletes and the other may change."""
    base, changed = service(80, f"d{number}"), service(r.choice([80, 82]), f"d{number}")
    sides = r.choice([(None, changed), (changed, None)])
    return {f"net/gone-{number}.yaml": (base, *sides)}


def moved(r: Random, number: int) -> Versions:
    """A resource that one side moves to another file while the other side edits it."""
    old, new = f"apps/old-{number}.yaml", f"apps/new-{number}.yaml"
    stays, goes = deployment(name=f"stays-{number}"), deployment(1, name=f"goes-{number}")
    edited = deployment(r.choice([1, 4]), r.choice(["app:1", "app:2"]), name=f"goes-{number}")
    both = stream(stays, goes), stream(stays, edited)
    here: tuple[str | None, ...] = (both[0], stays, both[1])
    there: tuple[str | None, ...] = (None, goes, None)
    if r.random() < 0.3:  # to a file that there is
        there = (service(), stream(service(), goes), service(r.choice([80, 81])))
    order = r.choice([(0, 1, 2), (0, 2, 1)])
    swapped = [tuple(versions[at] for at in order) for versions in (here, there)]
    return dict(zip((old, new), swapped, strict=True))  # type: ignore[arg-type]


def renamed(r: Random, number: int) -> Versions:
    """A file that one side renames and the other edits."""
    base, changed = deployment(name=f"r{number}"), deployment(5, "app:7", name=f"r{number}")
    return {
        f"apps/r{number}.yaml": (base, None, changed),
        f"apps/s{number}.yaml": (None, base, None),
    }


def odd(r: Random, number: int) -> Versions:
    """A file that is no plain manifest."""
    path, texts = r.choice(
        [
            (f"notes-{number}.txt", ("a\nb\n", "a\nc\n", "a\nd\n")),
            (f"broken-{number}.yaml", ("a: [\n", "a: [1\n", "a: [2\n")),
            (f"secrets-{number}.enc.yaml", ("a: ENC[1]\n", "a: ENC[2]\n", "a: ENC[3]\n")),
            (
                f"data-{number}.json",
                ('{"a": 1, "b": 1}\n', '{"a": 2, "b": 1}\n', '{"a": 3, "b": 2}\n'),
            ),
            (f"l\u00e9 on {number}.yaml", ("a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: 1\nb: 2\n")),
            (
                "kustomization.yaml",
                tuple(f"resources:\n- a.yaml\n{m}" for m in ("", "- b.yaml\n", "- c.yaml\n")),
            ),
        ]
    )
    return {path: texts}


CHANGES: list[Callable[[Random, int], Versions]] = [
    *[any_manifest, clashing, fields] * 3,
    *[template, moved] * 2,
    *[chart, added, deleted, renamed, odd],
]


def decoded(versions: tuple[bytes, bytes, bytes]) -> tuple[str, str, str]:
    base, ours, theirs = (version.decode() for version in versions)
    return base, ours, theirs


def sides_of(versions: Versions) -> list[Files]:
    """The files of base, ours and theirs."""
    return [
        {path: texts[at] for path, texts in versions.items() if texts[at] is not None}  # type: ignore[misc]
        for at in range(3)
    ]


def forked(r: Random, scene: Scene, versions: Versions | None = None) -> None:
    """Two branches, `main` (checked out) and `side`, from a common base; perhaps some settings."""
    base, ours, theirs = sides_of(versions or several(r))
    write_history(scene.repo, [Merge("a fork", base, ours, theirs, ours)])
    scene.repo.git("branch", "side", "main^2")
    scene.repo.git("reset", "-q", "--hard", "main^1")
    for key, value in r.choice(SETTINGS):
        scene.repo.git("config", "--add", key, value)
    scene.begin()


# -- merges that have stopped


def stopped(r: Random, scene: Scene, number: int) -> None:
    """Git alone has stopped a merge, a rebase, a pick or a stash: it is solved and finished."""
    forked(r, scene, several(r, 2))
    stop = r.choice(["merge", "merge", "merge", "rebase", "cherry-pick", "stash"])
    if stop == "stash":
        base = sides_of(several(r, 2))
        write_stash(scene.repo, base[1])
        scene.git("stash", "pop")
    else:
        scene.git(stop, "side")
    scene.kmerge("solve", "--dry-run", *r.choice([[], ["--json"], ["--favor", "theirs"]]))
    scene.kmerge("explain", *r.choice([[], ["--json"], ["-a"]]))
    answers(r, scene)
    scene.kmerge("check", "--merge", "--format", r.choice(FORMATS))
    scene.kmerge("solve", *r.choice([[], ["--json"], ["--favor", "ours"], ["--with-json"], ["-v"]]))
    scene.kmerge("diff", *r.choice([[], ["--staged"], ["--json"], ["--stat"], ["--full"]]))
    answers(r, scene)
    scene.kmerge("resolve", "--take", r.choice(SIDES[:3]), "--with-json")
    undone = sorted(
        {
            line.split("\t")[1]
            for line in scene.repo.git("diff", "--cached", "--raw").out.splitlines()
        }
    )
    scene.kmerge("resolve", "--undo", *undone[:1])
    scene.kmerge("resolve", "--take", r.choice(SIDES), *r.choice([[], ["--json"], ["apps"]]))
    scene.kmerge("explain", *r.choice([[], ["--json"]]))
    scene.kmerge("check", "--merge", *r.choice([[], ["--json"], ["-q"]]))
    scene.repo.git("add", "-A")
    scene.git(*(["commit", "-qm", "done"] if stop == "merge" else ["commit", "-qm", "picked"]))
    afterwards(r, scene)


def write_stash(repo: Repo, files: Files) -> None:
    """Put changes aside, and commit others."""
    for name, text in files.items():
        repo.write(name, text)
    repo.git("add", "-A")
    repo.git("stash", "-q")
    repo.git("merge", "-q", "--squash", "side", check=False)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "meanwhile", check=False)


def answers(r: Random, scene: Scene) -> None:
    """Look at the conflicts and answer some of them, in one of the ways that there are."""
    listed = scene.kmerge("resolve", "--list", "--json", *r.choice([[], ["--blame"]]))
    scene.kmerge("resolve", "--list", *r.choice([[], ["--blame"], ["--with-json"]]))
    ids = re.findall(r'"id": "(\w+)"', listed)
    way = r.choice(["set", "at", "field", "from", "wrong"])
    if way == "set" and ids:
        scene.kmerge("resolve", "--set", f"{r.choice(ids)}={r.choice(['7', 'a b', '{x: 1}', '['])}")
    elif way == "at" and ids:
        scene.kmerge("resolve", "--take", r.choice(SIDES), "--at", r.choice(ids), "--json")
    elif way == "from" and ids:
        told = re.sub(r'("id": "\w+")', lambda m: f'{m[0]}, "answer": "{r.choice(SIDES)}"', listed)
        scene.kmerge("resolve", "--from", "-", stdin=told)
    elif way == "field":
        scene.kmerge(
            "resolve", "--take", r.choice(SIDES), "--at", r.choice(["**.image", "**", "data.*"])
        )
    else:
        scene.kmerge(
            "resolve", *r.choice([["--set", "abc=1"], ["--from", "-"], ["--take", "them"]])
        )


def afterwards(r: Random, scene: Scene, merge: str = "HEAD") -> None:
    """Ask about a merge that is committed."""
    scene.kmerge("explain", merge, *r.choice([[], ["--json"], ["-a"]]))
    scene.kmerge("check", "--merge-of", merge, "--format", r.choice(FORMATS))
    scene.kmerge("diff", f"{merge}^", merge, *r.choice([[], ["--json"], ["--stat"], ["--full"]]))


# -- merges that kmerge makes


def merging(r: Random, scene: Scene, number: int) -> None:
    """A merge is previewed and made; branches are refreshed."""
    forked(r, scene)
    form = r.choice(["text", "json", "markdown", "github", "sarif"])
    scene.kmerge("preview", "side", "--format", form)
    scene.kmerge(
        "preview",
        "side",
        *r.choice([["--json"], ["--write-tree"], ["--rebase"], ["--into", "main"]]),
    )
    scene.kmerge("preview", "main", "--rebase", "--into", "side", *r.choice([[], ["--json"]]))
    wishes = r.choice(
        [
            [],
            ["--json"],
            ["--no-commit"],
            ["--squash"],
            ["-X", "theirs"],
            ["--no-ff", "-m", "m"],
            ["-v"],
        ]
    )
    scene.kmerge("merge", "side", *wishes)
    answers(r, scene)
    scene.kmerge("resolve", "--take", r.choice(SIDES[:2]))
    scene.kmerge("merge", r.choice(["--continue", "--continue", "--abort", "--quit"]))
    afterwards(r, scene)
    scene.repo.git("reset", "-q", "--hard", check=False)
    if number % 3 == 0:
        for name in ("one", "two"):
            scene.repo.git("branch", f"topic/{name}", "side" if name == "one" else "side^")
        words = ["--with", "main", "--branches", "topic/*"]
        scene.kmerge(
            "refresh", *words, "--dry-run", *r.choice([[], ["--json"], ["--format", "markdown"]])
        )
        scene.kmerge("refresh", *words, *r.choice([[], ["--json"], ["--format", "markdown"]]))


# -- merges of the past


def past(r: Random, scene: Scene, number: int) -> None:
    """Past merges, some of them with damage, are replayed and examined."""
    merges = [every_kind(number)]
    merges += [merged_by_hand(r, scene.repo, each) for each in range(r.randint(1, 2))]
    write_history(scene.repo, merges)
    commits = scene.repo.git("rev-list", "--merges", "HEAD").out.split()
    scene.repo.git("checkout", "-qb", "picks", f"{commits[-1]}^")
    scene.repo.git("cherry-pick", "-x", f"{commits[-1]}^2", check=False)
    scene.repo.git("add", "-A")
    scene.repo.git("cherry-pick", "--continue", check=False)
    scene.repo.git("checkout", "-qf", "main")
    scene.begin()
    jobs = ["--jobs", "1"]
    scene.kmerge("replay", *jobs)
    scene.kmerge(
        "replay", *jobs, *r.choice([["--json"], ["--html", "../report.html"], ["--last", "1"]])
    )
    scene.kmerge("replay", *jobs, "--show", "1", *r.choice([[], ["--extract", "../texts"]]))
    scene.kmerge("replay", *jobs, "--picks", "picks")
    rule = r.choice(
        [["*", "**.image", "higher"], ["*", "**.replicas", "theirs"], ["apps/*", "*", "no"]]
    )
    scene.kmerge("policy", "try", *rule, *jobs, *r.choice([[], ["--json"]]))
    for commit in commits[:2]:
        afterwards(r, scene, commit)
    scene.kmerge("check", "--merge")


def merged_by_hand(r: Random, repo: Repo, number: int) -> Merge:
    """A merge that somebody finished, perhaps with damage."""
    base, ours, theirs = sides_of(several(r))
    people: Files = {}
    for path in sorted(base | ours | theirs):
        texts = [side.get(path) for side in (base, ours, theirs)]
        result = next((text for text in (*texts[1:], texts[0]) if text is not None), "")
        if None not in texts:
            for name, text in zip(
                ("ours", "base", "theirs"), (texts[1], texts[0], texts[2]), strict=True
            ):
                repo.write(f".git/{name}", text or "")
            words = [f".git/{name}" for name in ("ours", "base", "theirs")]
            result = repo.git("merge-file", "-p", "--union", *words, check=False).out
            sides = [text or "" for text in texts]
            broken = damage(r.choice(sorted(DAMAGES)), Damaged(*sides, result), r)
            result = broken.text if isinstance(broken, Damage) and r.random() < 0.6 else result
        people[path] = result
    return Merge(f"by hand {number}", base, ours, theirs, people)


# -- checks

FORMATS = ("text", "json", "github", "sarif")
ORDINARY = sorted(
    path for path in (HERE / "tests" / "check" / "ordinary").rglob("*") if path.is_file()
)


def checks(r: Random, scene: Scene, number: int) -> None:
    """Good and bad patches and manifests are checked and mended."""
    patch, tool, line, new, _ = r.choice(FOUND)
    target, text = PATCHES[patch]
    lines = text.split("\n")
    lines[line - 1 : line] = [new]
    one, other = r.choice(["kubectl", "kustomize"]), "kustomize" if tool == "Z" else "kubectl"
    for path in r.sample(ORDINARY, 3):
        scene.repo.write(f"files/{path.name}", path.read_bytes())
    scene.repo.write("files/any.yaml", trio(r, 3)[1])
    scene.repo.write(
        "files/edited.yaml", shaken(r, r.choice(ORDINARY).read_text("utf-8", "ignore"))
    )
    scene.repo.write("base/target.yaml", target)
    scene.repo.write("base/kustomization.yaml", "resources: [target.yaml]\n")
    scene.repo.write("over/patch.yaml", "\n".join(lines))
    scene.repo.write("over/good.yaml", text)
    scene.repo.write(
        "over/kustomization.yaml", "resources: [../base]\npatches:\n- path: patch.yaml\n"
    )
    scene.repo.git("add", "files", "over")
    scene.begin()
    for form in FORMATS:
        scene.kmerge("check", "--format", form)
    scene.kmerge("check", "--staged", "--fail-on", r.choice(["error", "warning", "info", "never"]))
    scene.kmerge("check", "--as", "patch", "over/patch.yaml", "--target", "base/target.yaml")
    scene.kmerge("check", "--as", "patch", "over/patch.yaml", "--tool", other, "--json")
    scene.kmerge("check", "over/good.yaml", "--tool", one, "-q")
    scene.kmerge("check", "files", "--as", r.choice(["patch", "manifest"]))
    scene.kmerge("check", "--select", r.choice(["D", "M", "merge-damage", "all", "D12,M02", "X"]))
    scene.kmerge("check", "--ignore", r.choice(["D", "merge-damage", "M"]), "--merge")
    scene.kmerge("check", "--fix", "--dry-run")
    scene.kmerge("check", "--fix", "over", "--as", "patch", "--tool", other)
    scene.kmerge("check", "--explain", f"{r.choice('DMT')}{r.randint(1, 20):02}")
    scene.kmerge("check", *r.choice([["--installed"], ["--list"], ["nothing.yaml"], ["-"]]))


def shaken(r: Random, text: str) -> str:
    """A text with some lines gone, doubled, or at another column."""
    lines = text.split("\n")
    for _ in range(r.randint(1, 3)):
        at = r.randrange(len(lines))
        line = lines[at]
        lines[at : at + 1] = r.choice([[], [line, line], ["  " + line], [line.removeprefix("  ")]])
    return "\n".join(lines)


# -- packages from upstream


def vendored(r: Random, scene: Scene, number: int) -> None:
    """A package comes from a local repository, is changed, and updated."""
    upstream = scene.world.init("up")
    base, ours, theirs = sides_of(several(r, 2, 5))
    for tag, files in (("v1", base), ("v2", theirs)):
        upstream.git("rm", "-qr", "--ignore-unmatch", ".")
        upstream.commit(tag, {f"deploy/{name}": text for name, text in files.items()})
        upstream.git("tag", tag)
    scene.repo.commit("mine", {"own.yaml": service()})
    scene.begin()
    place = "vendor/shop"
    scene.kmerge(
        "vendor",
        "add",
        "../up",
        place,
        "--path",
        "deploy",
        "--ref",
        "v1",
        *r.choice([[], ["--json"]]),
    )
    scene.repo.commit("added")
    for name in sorted(base):
        if name in ours:
            scene.repo.write(f"{place}/{name}", ours[name])
        else:
            (scene.repo.path / place / name).unlink()
    scene.begin()
    for action in ("list", "status", "diff"):
        scene.kmerge("vendor", action, *r.choice([[], ["--json"]]))
    scene.kmerge("vendor", "status", "--fetch", *r.choice([[], ["--json"]]))
    scene.kmerge("vendor", "update", "--ref", "v2", "--dry-run", *r.choice([[], ["--json"]]))
    rules = r.choice([[], [], ["--rules", "kyaml"], ["--json"], ["-q"]])
    scene.kmerge("vendor", "update", place, "--ref", "v2", *rules)
    scene.kmerge("vendor", "status", *r.choice([[], ["--json"]]))
    scene.kmerge("vendor", "update", "--continue")
    scene.kmerge("resolve", "--list")
    scene.kmerge("vendor", "update", r.choice(["--abort", "--continue"]), place)
    scene.kmerge("vendor", "update", "--all", *r.choice([[], ["--json"]]))
    scene.kmerge(
        "vendor",
        "add",
        "../up",
        r.choice([place, "again", "../out"]),
        "--ref",
        r.choice(["v2", "no"]),
    )
    scene.kmerge("vendor", "diff", *r.choice([[], ["--json"], [place]]))


# -- patches and what is applied


def patched(r: Random, scene: Scene, number: int) -> None:
    """Patches are made and applied, and configs as kubectl applies them."""
    name = sorted(PATCHES)[number % len(PATCHES)]
    target, text = PATCHES[name]
    files = {"target.yaml": target, "patch.yaml": text, "shaken.yaml": shaken(r, text)}
    versions = [fields(r, 0)["apps/web-0.yaml"] for _ in range(2)]
    files |= {"old.yaml": versions[0][0], "new.yaml": versions[0][1], "live.yaml": versions[0][2]}  # type: ignore[dict-item]
    files |= {"any.yaml": trio(r, 3)[0].decode(), "more.yaml": trio(r, 3, "Service")[1].decode()}
    scene.repo.commit("files", dict(files))
    scene.begin()
    for patch in ("patch.yaml", "shaken.yaml"):
        scene.kmerge("patch", "target.yaml", "-p", patch, "--dry-run")
        scene.kmerge(
            "patch",
            "target.yaml",
            "-p",
            patch,
            *r.choice([["-o", "json"], ["--tool", "kustomize"], []]),
        )
    scene.kmerge("patch", "any.yaml", "-p", '{"spec": {"replicas": 3}}', "--type", "merge")
    scene.kmerge(
        "patch", "old.yaml", "-p", '{"spec": {"replicas": 9, "paused": null}}', "--in-place"
    )
    scene.kmerge(
        "make-patch", "old.yaml", "new.yaml", *r.choice([[], ["-o", "json"], ["--type", "merge"]])
    )
    live = ["--live", "live.yaml"]
    scene.kmerge("make-patch", "old.yaml", "new.yaml", *live, *r.choice([[], ["--no-overwrite"]]))
    last = ["--last-applied", "old.yaml"]
    scene.kmerge("apply", "new.yaml", *live, *last, "--explain")
    scene.kmerge(
        "apply",
        "new.yaml",
        *live,
        *last,
        *r.choice([["--show-patch"], ["-n"], ["-a"], ["--no-overwrite"]]),
    )
    scene.kmerge("apply", "new.yaml", *r.choice([["-o", "json"], [], ["-n"]]))
    scene.kmerge(
        "last-applied",
        "set",
        "live.yaml",
        "--config",
        "new.yaml",
        "--create-annotation",
        "--in-place",
    )
    scene.kmerge("last-applied", "view", "live.yaml", *r.choice([[], ["-o", "json"]]))
    scene.kmerge("apply", "old.yaml", *live, "--in-place")
    scene.kmerge("diff", "old.yaml", "new.yaml", *r.choice([[], ["--json"]]))
    scene.kmerge("diff", "any.yaml", "more.yaml", *r.choice([[], ["--stat"], ["--exit-code"]]))


# -- merges of files and folders


def files(r: Random, scene: Scene, number: int) -> None:
    """Versions of files and folders are merged without git."""
    versions = several(r, 2, 5)
    for side, texts in zip(("base", "ours", "theirs"), sides_of(versions), strict=True):
        for name, text in texts.items():
            scene.repo.write(f"{side}/{name}", text)
    scene.begin()
    three = ["--original", "base", "--updated", "theirs", "--dest", "ours"]
    style = r.choice([[], ["--conflict-style", "diff3"]])
    scene.kmerge("merge3", *three, "--dry-run", *r.choice([[], ["--json"], ["--explain"]]))
    scene.kmerge(
        "merge3", *three, "-o", "out3", "--rules", "git", *style, *r.choice([[], ["--json"]])
    )
    scene.kmerge(
        "merge3", *three, "-o", "kyaml3", "--summary", *r.choice([[], ["-q"], ["--no-infer"]])
    )
    scene.kmerge(
        "merge2", "--src", "theirs", "--dest", "ours", "-o", "out2", *r.choice([[], ["--prepend"]])
    )
    scene.kmerge("diff", "base", "ours", *r.choice([[], ["--json"], ["--full"], ["--stat"]]))
    everywhere = [
        name for name, texts in versions.items() if None not in texts and name != "README.md"
    ]
    for name in everywhere[:2]:
        paths = [f"{side}/{name}" for side in ("base", "ours", "theirs")]
        scene.kmerge(
            "merge-file",
            *paths,
            "--explain",
            *style,
            *r.choice([[], ["--favor", "ours"], ["--rules", "kyaml"]]),
        )
        scene.kmerge("merge3", "-O", paths[0], "-U", paths[2], "-D", paths[1], "--explain")
        scene.kmerge(
            "merge2", "-S", paths[2], "-D", paths[1], "--explain", *r.choice([[], ["--no-infer"]])
        )
        scene.kmerge("merge", *paths, "-o", "merged.yaml")
        scene.kmerge("mergetool", *paths, "merged.yaml")
    scene.kmerge("merge3", *three, "--in-place", "-q")


# -- the driver


def installed(r: Random, scene: Scene, number: int) -> None:
    """The driver is registered, merges, and is taken out again; help of some commands is shown."""
    forked(r, scene)
    scope = r.choice(
        [[], ["--global"], ["--shared"], ["--local", "--hooks"], ["--diff", "--mergetool"]]
    )
    scene.kmerge("install", *scope, "--dry-run")
    scene.kmerge("install", *scope)
    scene.kmerge("status", *r.choice([[], ["--json"]]))
    scene.kmerge(
        "status", *sorted(set(scene.repo.git("ls-files").lines))[:2], *r.choice([[], ["--json"]])
    )
    scene.git("merge", "side")
    scene.kmerge("resolve", "--list")
    scene.git("merge", "--abort")
    if number % 3 == 0:
        scene.kmerge("doctor", *r.choice([[], ["--json"], ["--fix"]]))
    if "--diff" in scope:
        scene.git("diff", "main", "side")
    scene.kmerge("uninstall", *scope[:1] if scope[:1] != ["--diff"] else [])
    scene.kmerge("status")
    for words in islice(COMMANDS, number, None, 10):
        scene.kmerge(*words.split(), "--help")
    scene.kmerge("completion", ("bash", "zsh", "fish")[number % 3])
    scene.kmerge(*NO_COMMANDS[number % len(NO_COMMANDS)])


Play = Callable[[Random, "Scene", int], None]
COUNTS: dict[str, tuple[int, Play]] = {
    "stopped": (60, stopped),
    "merging": (35, merging),
    "past": (20, past),
    "checks": (25, checks),
    "vendored": (15, vendored),
    "patched": (15, patched),
    "files": (20, files),
    "installed": (10, installed),
}
PLAYS: dict[str, Play] = {name: play for name, (_, play) in COUNTS.items()}


def plays() -> Iterator[tuple[str, int]]:
    """All repositories, by the name of their play and a number."""
    for name, (count, _) in COUNTS.items():
        yield from ((name, number) for number in range(count))
