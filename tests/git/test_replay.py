"""`kmerge replay` on histories whose outcomes are known."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from history import Merge, every_kind, expected, write_history
from manifests import deployment, service, stream
from world import Repo, World

from kmerge_git.replay.tally import Tally, times

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=900,700",
)


def replay(repo: Repo, *args: str) -> dict[str, object]:
    report: dict[str, object] = json.loads(repo.kmerge("replay", "--json", *args).out)
    return report


@pytest.mark.costly
def test_500_merges_are_counted_exactly(repo: Repo, tmp_path: Path) -> None:
    merges = [every_kind(number) for number in range(500)]
    write_history(repo, merges)
    before = repo.git("count-objects", "-v").out
    page = tmp_path / "report.html"
    report = replay(repo, "--html", str(page), "--jobs", "2")
    assert {name: count for name, count in report["counts"].items() if count} == {
        name: count for name, count in expected(merges).items() if count
    }
    assert report["merges"] == {
        "replayed": 500,
        "octopus": 0,
        "cut_off": 0,
        "missing": 0,
        "criss_cross": 0,
    }
    counts = report["counts"]
    assert report["by_kind"] == {
        "manifests": {
            name: counts[name] for name in ("git_conflicts", "resolved", "resolved_different")
        }
    }
    # every disagreement with its number: one of the two sides, and the variable that stands twice
    found = report["disagreements"]
    assert [case["number"] for case in found] == list(range(1, 101))
    assert [case["subject"] for case in found[:3]] == [
        "Merge twice 496",
        "Merge one side 493",
        "Merge twice 486",
    ]
    assert {case["path"] for case in report["git_broken"]} == {
        f"apps/app-{number}.yaml" for number in range(6, 500, 10)
    }
    assert repo.git("count-objects", "-v").out == before
    assert repo.git("status", "--porcelain").out == ""
    _check_the_page(page.read_text())
    _look_at_the_page(page, tmp_path)


def _check_the_page(html: str) -> None:
    assert html.count('<details class="case"') == 150  # 100 disagreements, 50 broken
    assert "<svg" in html
    for foreign in ("http://", "https://", "<script", "src="):
        assert foreign not in html.replace("default-src", "")
    assert "kmerge replay --show 100" in html


def _look_at_the_page(page: Path, directory: Path) -> None:
    """Let a real browser draw the page: the chart's colours must be in the picture."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no chromium here: the page was checked as text only")
    shot = directory / "page.png"
    profile = directory / "profile"
    flags = [*FLAGS, f"--user-data-dir={profile}", f"--screenshot={shot}"]
    try:
        subprocess.run(
            [browser, *flags, page.as_uri()], capture_output=True, timeout=90, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip("chromium does not answer here")
    if not shot.exists():
        pytest.skip("chromium cannot draw here")
    data = shot.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (900, 700)
    colours = _colours(data)
    for name, colour in {
        "resolved": (0x2F, 0x9E, 0x69),
        "conflict": (0xD9, 0x59, 0x4C),
        "broken": (0x8E, 0x44, 0xAD),
    }.items():
        # a bar of 50 of 450 merges is 70 pixels wide and 25 high
        assert colours.get(colour, 0) > 1000, name


def _colours(png: bytes) -> dict[tuple[int, int, int], int]:
    """How often each colour is in an RGB(A) image with 8 bits a channel."""
    import zlib

    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert depth == 8
    size = {2: 3, 6: 4}[kind]
    at, packed = 8, b""
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        packed += png[at + 8 : at + 8 + length] if name == b"IDAT" else b""
        at += length + 12
    raw = zlib.decompress(packed)
    row, stride = bytearray(width * size), width * size + 1
    up = 2  # a line like the one above: by far the most
    found: dict[tuple[int, int, int], int] = {}
    for line in range(height):
        filtered = raw[line * stride : (line + 1) * stride]
        if filtered[0] != up or any(filtered[1:]):
            row = _unfiltered(filtered, row, size)
        if line % 4 == 0:  # a fourth of the lines says enough
            for pixel in range(0, len(row), size):
                colour = (row[pixel], row[pixel + 1], row[pixel + 2])
                found[colour] = found.get(colour, 0) + 4
    return found


def _unfiltered(line: bytes, above: bytearray, size: int) -> bytearray:
    method, row = line[0], bytearray(line[1:])
    for index in range(len(row) if method else 0):
        left = row[index - size] if index >= size else 0
        up = above[index]
        corner = above[index - size] if index >= size else 0
        row[index] = (row[index] + _prediction(method, left, up, corner)) & 255
    return row


def _prediction(method: int, left: int, up: int, corner: int) -> int:
    if method == 1:
        return left
    if method == 2:
        return up
    if method == 3:
        return (left + up) // 2
    guess = left + up - corner
    distances = (abs(guess - left), abs(guess - up), abs(guess - corner))
    return (left, up, corner)[distances.index(min(distances))]


def test_deleted_and_moved_files_are_counted(repo: Repo) -> None:
    """A driver never sees them; `solve` does."""
    old, new = "net/web.yaml", "apps/web.yaml"
    base = {old: service(), "README": "x"}
    edited = base | {old: service(81)}
    moved = {new: stream(deployment(env=tuple(f"V{i}=1" for i in range(9))), service())}
    gone = {"README": "x"}
    write_history(
        repo,
        [
            Merge("deleted", base, gone, edited, edited, {"deleted": 1}),
            Merge("deleted there", base, edited, gone, gone, {"deleted": 1}),
            Merge("moved", base, gone | moved, edited, gone, {"deleted": 1, "followed": 1}),
            Merge("moved there", base, edited, gone | moved, gone, {"deleted": 1, "followed": 1}),
        ],
    )
    counts = replay(repo)["counts"]
    found = {name: count for name, count in counts.items() if count}
    assert found == {"deleted": 4, "away": 1, "followed": 2}
    said = repo.kmerge("replay").out
    assert "4  deleted on one side and changed on the other" in said
    assert "  2    of these, merged by `kmerge resolve` into the file" in said


@pytest.mark.costly
def test_one_and_two_processes_say_the_same(repo: Repo) -> None:
    write_history(repo, [every_kind(number) for number in range(40)])
    one, two = (replay(repo, "--jobs", jobs) for jobs in ("1", "2"))
    one.pop("milliseconds")
    two.pop("milliseconds")
    assert one == two


def test_the_text_report(repo: Repo) -> None:
    write_history(repo, [every_kind(number) for number in range(10)])
    out = repo.kmerge("replay").out
    assert out.startswith("10 merges replayed\n\n      9  manifests that both sides changed\n")
    assert "      6  git leaves a conflict (67%)\n" in out
    assert "      4    of these, resolved by kmerge (67%)\n" in out
    assert "disagreements (run `kmerge replay --show N` to see one)\n" in out
    assert (
        "apps/app-6.yaml" in out.partition("git leaves no conflict, but its result is broken\n")[2]
    )


def test_kinds_of_files_are_told_where_there_are_several(repo: Repo) -> None:
    base, ours, theirs = ("version: 1.0.0\n", "version: 1.0.1\n", "version: 1.1.0\n")
    chart = Merge("chart", {"Chart.yaml": base}, {"Chart.yaml": ours}, {"Chart.yaml": theirs}, {})
    write_history(repo, [*(every_kind(number) for number in range(10)), chart])
    table = repo.kmerge("replay").out.partition("by kind of file (")[2].splitlines()
    assert table[0] == "git leaves a conflict, resolved, different from what was committed)"
    assert table[1:3] == ["      6      4      1  manifests", "      1      0      0  Chart.yaml"]


def test_a_file_is_of_the_kind_that_the_first_parent_made_it(repo: Repo) -> None:
    base, other = "replicas: 1\n", "replicas: 3\n"
    made = {"templates": "replicas: {{ .n }}\n", "manifests": "apiVersion: v1\nreplicas: 2\n"}
    merges = [
        Merge(k, *({"a.yaml": v} for v in (base, ours, other, other))) for k, ours in made.items()
    ]
    write_history(repo, merges)
    kinds = replay(repo)["by_kind"]
    assert {kind: counts["git_conflicts"] for kind, counts in kinds.items()} == dict.fromkeys(
        made, 1
    )


def test_one_merge_is_one_merge(repo: Repo, tmp_path: Path) -> None:
    write_history(repo, [every_kind(number) for number in range(2)])
    page = tmp_path / "page.html"
    out = repo.kmerge("replay", "--last", "1", "--html", page).out
    assert out.startswith("1 merge replayed\n")
    assert "1 merge was replayed (<code>--last 1</code>);" in page.read_text("utf-8")


def test_the_longest_time_is_never_below_the_median() -> None:
    tally = Tally()
    tally.seconds.append(0.00124)
    assert times(tally.as_json()) == "1.2 ms per file (median), 1.2 ms at most"


def test_show_prints_what_happened(repo: Repo) -> None:
    write_history(repo, [every_kind(number) for number in range(10)])
    out = repo.kmerge("replay", "--show", "2").out
    heads = [line[3:] for line in out.splitlines() if line.startswith("== ")]
    assert heads == [
        "base",
        "base -> ours",
        "base -> theirs",
        "base -> kmerge",
        "base -> people",
        "kmerge -> people",
    ]
    assert out.startswith("apps/app-3.yaml in ")
    assert "-        - name: THEIRS\n" in out.partition("== kmerge -> people")[2]
    done = repo.kmerge("replay", "--show", "9", check=False)
    assert (done.code, done.err) == (
        2,
        "kmerge: the disagreements do not include 9; `kmerge replay` lists them\n",
    )


def test_what_is_shown_is_coloured_as_a_diff(repo: Repo) -> None:
    write_history(repo, [every_kind(3)])
    out = repo.kmerge("replay", "--show", "1", "--color", "always").out
    diff = out.partition("== kmerge -> people")[2].splitlines()[1:]
    colours = {"@": "\x1b[2m", "-": "\x1b[31m", "+": "\x1b[32m"}
    signs = [next((s for s, c in colours.items() if line.startswith(c + s)), " ") for line in diff]
    assert signs[:4] == ["@", " ", " ", " "]
    assert signs.count("-") == 2
    assert not any(line.startswith(("@", "-", "+")) for line in diff)


def test_extract_writes_the_five_texts(repo: Repo) -> None:
    write_history(repo, [every_kind(3)])
    done = repo.kmerge("replay", "--show", "1", "--extract", "../out")
    target = repo.path.parent / "out"
    assert sorted(os.listdir(target)) == [
        "base.yaml",
        "kmerge.yaml",
        "ours.yaml",
        "people.yaml",
        "theirs.yaml",
    ]
    assert (target / "ours.yaml").read_bytes() == (target / "people.yaml").read_bytes()
    assert len(done.lines) == 5


def test_ranges(repo: Repo) -> None:
    write_history(repo, [every_kind(number) for number in range(6)])
    assert replay(repo, "HEAD^..HEAD")["merges"]["replayed"] == 1
    assert replay(repo, "--last", "2")["counts"]["files"] == 2
    done = repo.kmerge("replay", "nowhere..HEAD", check=False)
    assert (done.code, "'nowhere' is not a commit of this repository" in done.err) == (2, True)


@pytest.mark.costly
def test_bare_octopus_criss_cross_and_shallow(world: World, repo: Repo) -> None:
    base = repo.commit("base", {"a.yaml": deployment()})
    repo.commit("main", {"main.yaml": deployment()})
    for name in ("one", "two"):
        repo.branch(name, base)
        repo.commit(name, {f"{name}.yaml": deployment()})
    repo.switch("main")
    repo.git("merge", "-q", "--no-edit", "one", "two")
    _criss_cross(repo)
    bare = world.root / "bare.git"
    world.git("clone", "-q", "--bare", repo.path, bare)
    report = replay(Repo(world, bare))
    made = {"replayed": 2, "octopus": 1, "cut_off": 0, "missing": 0, "criss_cross": 1}
    assert report["merges"] == made
    assert report["counts"]["files"] == 0
    out = repo.kmerge("replay").out
    assert out.startswith(
        "2 merges replayed, 1 skipped (more than two parents), 1 skipped (several merge bases)\n"
    )
    shallow = world.root / "shallow"
    world.git("clone", "-q", "--depth", "2", f"file://{repo.path}", shallow)
    assert replay(Repo(world, shallow))["merges"]["cut_off"] == 1


def _criss_cross(repo: Repo) -> None:
    repo.branch("side")
    theirs = repo.commit("theirs", {"theirs.yaml": deployment()})
    repo.switch("main")
    ours = repo.commit("ours", {"ours.yaml": deployment()})
    repo.git("merge", "-q", "--no-edit", theirs)
    repo.commit("ours", {"a.yaml": deployment(replicas=2)})
    repo.switch("side")
    repo.git("merge", "-q", "--no-edit", ours)
    repo.commit("theirs", {"a.yaml": deployment(env=("A=1", "B=1"))})
    repo.switch("main")
    repo.git("merge", "-q", "--no-edit", "side")


def test_a_renamed_file_is_followed(repo: Repo) -> None:
    long = deployment(env=tuple(f"V{index}=1" for index in range(20)))
    ours, theirs = (long + f"        - name: {name}\n          value: x\n" for name in "OT")
    both = ours + theirs[len(long) :]
    merge = Merge(
        "renamed", {"a.yaml": long}, {"b.yaml": ours}, {"a.yaml": theirs}, {"b.yaml": both}
    )
    write_history(repo, [merge])
    counts = replay(repo)["counts"]
    assert (counts["files"], counts["resolved_same_bytes"]) == (1, 1)
