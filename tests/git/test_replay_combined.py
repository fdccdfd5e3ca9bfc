"""`kmerge replay --combine`: the results of several repositories are one report, in any order."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from history import Merge, every_kind, write_history
from manifests import deployment
from world import Repo

from kmerge_git.cli.replay import report_lines
from kmerge_git.errors import KmergeError
from kmerge_git.replay.combined_reports import combined, read_report
from kmerge_git.replay.policy_trials import with_lines
from kmerge_git.replay.tally import Tally
from kmerge_git.report.results import SCHEMA

Json = Any
VERSIONS = ("app:1.1", "app:1.2", "app:1.3", "app:1.3")


def history() -> list[Merge]:
    image = Merge("image", *({"apps/web.yaml": deployment(image=v)} for v in VERSIONS))
    other = Merge(
        "other", *({"apps/web.yaml": deployment(image=v)} for v in (*VERSIONS[:3], "app:9"))
    )
    chart = Merge(
        "chart",
        *({"c/Chart.yaml": f"version: {v}\n"} for v in ("1.0.0", "1.0.1", "1.1.0", "1.1.1")),
    )
    return [*map(every_kind, range(10)), *[image] * 6, other, *[chart] * 3] * 2


@pytest.fixture
def parts(repo: Repo, tmp_path: Path) -> list[str]:
    """The results of both halves of a history, and of the whole of it."""
    write_history(repo, history(), ("ada", "bob", "eve"))
    names = []
    for at, scope in enumerate((["HEAD~60"], ["HEAD~60..HEAD"], [])):
        names.append(str(tmp_path / f"{at}.json"))
        Path(names[-1]).write_text(repo.kmerge("replay", "--json", *scope).out)
    return names


def without_times(report: Json) -> Json:
    return report | {"milliseconds": None}


def read(*names: str) -> list[Json]:
    return [json.loads(Path(name).read_text()) for name in names]


def test_of_one_result_it_is_that_result(repo: Repo, parts: list[str]) -> None:
    assert repo.kmerge("replay", "--combine", parts[2], "--json").out == Path(parts[2]).read_text()
    said, of_one = repo.kmerge("replay").out, repo.kmerge("replay", "--combine", parts[2]).out
    assert [line for line in of_one.splitlines() if " ms " not in line] == [
        line for line in said.splitlines() if " ms " not in line
    ]
    assert "policies that agree with past commits" in of_one


def test_parts_add_up_in_any_order(repo: Repo, parts: list[str], tmp_path: Path) -> None:
    reports = [
        json.loads(repo.kmerge("replay", "--json", "--combine", *order).out)
        for order in permutations(parts)
    ]
    assert all(without_times(each) == without_times(reports[0]) for each in reports)
    both = tmp_path / "both.json"
    both.write_text(repo.kmerge("replay", "--json", "--combine", *parts[:2]).out)
    again = repo.kmerge("replay", "--json", "--combine", parts[2], str(both)).out
    assert without_times(json.loads(again)) == without_times(reports[0])


def test_both_halves_are_the_whole(repo: Repo, parts: list[str]) -> None:
    """But for numbers of disagreements: each is that of its own result."""
    (whole,) = read(parts[2])
    both = json.loads(repo.kmerge("replay", "--json", "--combine", *parts[:2]).out)
    for name in ("merges", "picks", "squash_merges", "counts", "by_kind", "notes"):
        assert both[name] == whole[name], name
    assert both["repositories"] == 2

    def numbered(files: list[Json]) -> list[str]:
        return sorted(json.dumps(file | {"number": 0}) for file in files)

    for name in ("disagreements", "git_broken", "new_conflicts"):
        assert numbered(both[name]) == numbered(whole[name])
        assert whole[name] or name == "new_conflicts"
    for ours, theirs in zip(both["left"], whole["left"], strict=True):
        assert (ours["cause"], ours["field"]) == (theirs["cause"], theirs["field"])
        assert numbered(ours["conflicts"]) == numbered(theirs["conflicts"])
    proposals = {(p["policy"], p["files"], p["field"]): p for p in whole["proposals"]}
    found = {(p["policy"], p["files"], p["field"]): p for p in both["proposals"]}
    # three versions of a chart in each half are too few there
    assert {*proposals} - {*found} == {("rebump", "c/Chart.yaml", "version")}
    for key, proposal in found.items():
        assert {**proposal, "wrong": 0} == {**proposals[key], "wrong": 0}
        assert numbered(proposal["wrong"]) == numbered(proposals[key]["wrong"])
    (higher,) = both["proposals"]
    assert (higher["standing"], higher["settled"], higher["otherwise"]) == ("saves work", 14, 2)
    assert len(higher["authors"]) == 3


def test_what_two_repositories_say(repo: Repo, parts: list[str]) -> None:
    out = repo.kmerge("replay", "--combine", *parts[:2]).out
    assert out.startswith(
        "40 merges replayed\n2 repositories\n\n     38  manifests that both sides"
    )
    assert "disagreements (run `kmerge replay --show N` in its repository to see one)\n" in out
    assert "in .gitattributes" not in out  # each repository has its own


def test_the_median_is_that_of_most_files() -> None:
    rows = [(1.0, 1), (5.0, 10), (9.0, 2)]
    reports = []
    for median, files in rows:
        each = copy.deepcopy(EMPTY)
        each["counts"]["files"] = files
        each["milliseconds"] = {"median": median, "longest": 2 * median}
        reports.append(each)
    for order in permutations(reports):
        assert combined([*order])["milliseconds"] == {"median": 5.0, "longest": 18.0}
    assert combined([EMPTY, EMPTY])["milliseconds"] == {"median": 0.0, "longest": 0.0}


def proposal(merges: int, authors: list[str], wrong: str) -> Json:
    """The counts of a policy with four places of each merge, one of all differently."""
    counts = dict.fromkeys(("unknown", "silent", "free", "files_freed", "files_as_people"), 0)
    return with_lines(
        counts
        | {"policy": "higher", "files": "a.yaml", "field": "x", "settled": 4 * merges}
        | {"as_people": 4 * merges - 1, "otherwise": 1, "compared_in": merges, "authors": authors}
        | {"conflicted_files": 9, "files_settled": merges, "wrong": [{"commit": wrong}]}
    )


def test_a_policy_of_several_repositories() -> None:
    """Its standing is that of the sums, with all authors, and the first wrong cases of all."""
    rows = [(3, ["a"], "4"), (3, ["a", "b"], "2"), (4, ["c"], "3"), (3, ["a"], "1")]
    reports = []
    for number, row in enumerate(rows):
        reports.append(EMPTY | {"proposals": [proposal(*row)], "notes": ["all", f"{number % 2}"]})
    assert {report["proposals"][0]["standing"] for report in reports} == {"saves work"}
    for order in permutations(reports):
        report = combined([*order])
        (found,) = report["proposals"]
        assert (found["standing"], found["compared_in"]) == ("safe here", 13)
        assert found["authors"] == ["a", "b", "c"]
        assert [case["commit"] for case in found["wrong"]] == ["1", "2", "3"]
        assert (found["conflicted_files"], found["otherwise"]) == (36, 4)
        assert report["notes"] == ["0", "1", "all"]


# -- what is no result


def bad(tmp_path: Path, data: bytes) -> str:
    file = tmp_path / "bad.json"
    file.write_bytes(data)
    with pytest.raises(KmergeError) as raised:
        read_report(str(file), SCHEMA)
    said = str(raised.value)
    assert said.startswith(f"{file}: ") and "\n" not in said
    return said.removeprefix(f"{file}: ")


FORM = "not a complete `kmerge replay --json` report from this version of kmerge"


@pytest.mark.parametrize(
    "data, why",
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a":' * 100_000, "not JSON"),
        (b"1" * 5_000, "not JSON"),
        (b"{}", FORM),
        (b"[]", FORM),
        (b"null", FORM),
        (b'"x"', FORM),
        (b"NaN", FORM),
    ],
)
def test_files_that_are_no_result(tmp_path: Path, data: bytes, why: str) -> None:
    assert bad(tmp_path, data) == why


@pytest.mark.parametrize(
    "where, value, is_right",
    [
        ("schema", 2, False),
        ("counts files", 7, True),
        ("counts files", True, False),
        ("counts files", -1, False),
        ("counts files", 0.5, False),
        ("counts files", 2**53 - 1, True),
        ("counts files", 2**53, False),
        ("milliseconds median", 1, True),
        ("milliseconds median", 0.5, True),
        ("milliseconds median", True, False),
        ("milliseconds median", float("nan"), False),
        ("milliseconds median", float("inf"), False),
        ("merges more", 1, False),
    ],
)
def test_numbers_of_a_result(tmp_path: Path, where: str, value: object, is_right: bool) -> None:
    report: Json = {"schema": SCHEMA, **Tally().as_json()}
    *above, name = where.split()
    (report[above[0]] if above else report)[name] = value
    data = json.dumps(report).encode()
    if is_right:
        (tmp_path / "good.json").write_bytes(data)
        assert read_report(str(tmp_path / "good.json"), SCHEMA)
    else:
        assert bad(tmp_path, data) == FORM


def test_what_cannot_be_read(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, why in (
        (str(tmp_path), "Is a directory"),
        ("none.json", "No such file or directory"),
    ):
        done = repo.kmerge("replay", "--combine", name, check=False)
        assert (done.code, done.out, done.err) == (2, "", f"kmerge: {name}: {why}\n")
    (tmp_path / "trial.json").write_text('{"schema": 1}')
    done = repo.kmerge("replay", "--combine", str(tmp_path / "trial.json"), check=False)
    assert (done.code, done.err) == (2, f"kmerge: {tmp_path / 'trial.json'}: {FORM}\n")
    monkeypatch.setattr("kmerge_git.replay.combined_reports.REPORT_BYTES", 1 << 20)
    assert bad(tmp_path, b" " * (1 << 20) + b"1") == "the report is larger than 1 MiB"


def test_nothing_else_goes_with_it(repo: Repo, parts: list[str]) -> None:
    done = repo.kmerge("replay", "--last", "3", "--combine", parts[0], check=False)
    assert (done.code, done.err) == (
        2,
        "kmerge: --combine takes only files; remove the range and its options\n",
    )
    assert repo.kmerge("replay", "--combine", parts[0], "--html", "x", check=False).code == 2
    elsewhere = Repo(repo.world, Path(parts[0]).parent)  # no repository
    assert elsewhere.kmerge("replay", "--combine", "0.json").out.startswith("20 merges replayed\n")


def places(value: Json, path: Sequence[Json] = ()) -> Iterator[list[Json]]:
    """Every place in a JSON value."""
    yield [*path]
    rows: dict[Json, Json] = value if isinstance(value, dict) else {}
    for name, below in (dict(enumerate(value)) if isinstance(value, list) else rows).items():
        yield from places(below, (*path, name))


ODD = (
    None,
    True,
    False,
    -1,
    2**53,
    10**400,
    0.5,
    float("nan"),
    float("inf"),
    "x",
    "",
    [],
    {},
    [[]],
)


def test_any_json_is_a_report_or_one_error(parts: list[str], tmp_path: Path) -> None:
    """Each place of a result by turns is something else, is gone, or has something beside it."""
    random = Random(1)
    (whole,) = read(parts[1])
    good = read_report(parts[1], SCHEMA)
    errors: set[str] = set()
    everywhere = random.choices([*places(whole)], k=600)
    for path in everywhere:
        report = copy.deepcopy(whole)
        at = report
        for step in path[:-1]:
            at = at[step]
        odd = random.choice(ODD)
        if not path:
            report = odd
        elif isinstance(at, dict) and random.random() < 0.3:
            at["more" if random.random() < 0.5 else path[-1]] = odd
            if random.random() < 0.5:
                del at[path[-1]]
        else:
            at[path[-1]] = odd
        file = tmp_path / "odd.json"
        file.write_text(json.dumps(report))
        try:
            known = read_report(str(file), SCHEMA)
        except KmergeError as error:
            errors.add(str(error))
            continue
        for each in ([known], [known, good], [good, known, known]):
            both = combined(each)
            assert json.loads(json.dumps(both, allow_nan=False)) == both
            assert [*report_lines(both, [])]
    assert errors == {f"{tmp_path}/odd.json: {FORM}"}


def test_what_a_result_says_is_only_text(repo: Repo, parts: list[str], tmp_path: Path) -> None:
    (report,) = read(parts[1])
    text = json.dumps(report).replace("web", "\\u001b[31m\\ud800\\u202e\\n$(touch x)")
    file = tmp_path / "odd.json"
    file.write_text(text)
    for names in ([str(file)], [str(file), parts[0]]):
        for flag in ([], ["--json"]):
            done = repo.kmerge("replay", *flag, "--combine", *names)
            assert "\x1b" not in done.out and "\u202e" not in done.out


EMPTY: Json = {
    "repositories": 1,
    "merges": {"replayed": 0},
    "squash_merges": {"replayed": 0, "counts": {"files": 0}},
    "picks": {"reverts": 0},
    "notes": [],
    "counts": {"files": 0},
    "by_kind": {},
    "milliseconds": {"median": 0.0, "longest": 0.0},
    "disagreements": [],
    "git_broken": [],
    "new_conflicts": [],
    "left": [],
    "proposals": [],
    "gitattributes": [],
}
