"""What `kmerge replay` proposes and what it leaves, and `replay --policy`, on made-up pasts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from history import Merge, every_kind, write_history
from manifests import deployment, stream
from world import Repo

from kmerge_git.git.repository import Repository
from kmerge_git.git.settings import settle
from kmerge_git.merge.plan import Why
from kmerge_git.replay.left_conflicts import FieldPolicy
from kmerge_git.replay.policy_trials import past_trials

Versions = tuple[str, str, str, str]  # of base, ours, theirs and people
PATH = "apps/web.yaml"
IMAGE = "spec.template.spec.containers[*].image"
UP: Versions = ("app:1.1", "app:1.3", "app:1.2", "app:1.3")  # people take the higher one, ours
UP_THERE: Versions = ("app:1.1", "app:1.2", "app:1.3", "app:1.3")
DOWN: Versions = ("app:1.1", "app:1.3", "app:1.2", "app:1.2")  # people take the lower one
BRANCH: Versions = ("app:1.1", "app:x", "app:1.2", "app:x")  # no version: people take ours
OTHER: Versions = ("app:1.1", "app:1.3", "app:1.2", "app:2")


def images(kinds: Iterable[Versions], path: str = PATH) -> list[Merge]:
    """Merges in each of which both sides changed an image."""
    return [
        Merge(str(number), *({path: deployment(image=image)} for image in versions))
        for number, versions in enumerate(kinds)
    ]


def replay(repo: Repo, *args: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(repo.kmerge("replay", "--json", *args).out)
    return report


def trial(repo: Repo, policy: str, *args: str) -> dict[str, Any]:
    return replay(repo, "--policy", policy, *args)


def figures(proposal: dict[str, Any]) -> tuple[str, str, str, int, int]:
    words = (proposal["files"], proposal["field"], proposal["policy"])
    return (*words, proposal["settled"], proposal["as_people"])


def proposed(
    repo: Repo, merges: Sequence[Merge], authors: Sequence[str] = ("ada", "bob")
) -> list[tuple[str, str, str, int, int]]:
    write_history(repo, merges, authors)
    return [figures(proposal) for proposal in replay(repo)["proposals"]]


HIGHER = (PATH, IMAGE, "higher")


@pytest.mark.world
@pytest.mark.parametrize(
    "kinds, expected",
    [
        ([UP, UP_THERE] * 2, None),  # four cases
        ([UP, UP_THERE] * 2 + [UP], ("safe here", 5, 5)),
        ([UP, UP_THERE] * 4 + [UP, OTHER], ("safe here", 10, 9)),
        ([UP, UP_THERE] * 4 + [OTHER], ("saves work", 9, 8)),
        ([UP, UP_THERE] * 3 + [OTHER] * 2, ("saves work", 8, 6)),
        ([UP, UP_THERE] * 3 + [OTHER] * 3, None),  # six of nine
        ([DOWN] * 9, None),  # not `theirs`
        ([UP] * 5, ("safe here", 5, 5)),
        ([UP] * 5 + [BRANCH], ("safe here", 5, 5)),
    ],
)
def test_nine_of_ten_three_of_four_and_five(
    repo: Repo, kinds: list[Versions], expected: tuple[str, int, int] | None
) -> None:
    write_history(repo, images(kinds))
    found = [(proposal["standing"], *figures(proposal)) for proposal in replay(repo)["proposals"]]
    assert found == ([(expected[0], *HIGHER, *expected[1:])] if expected else [])


@pytest.mark.parametrize(
    "merges, places, authors, standing",
    [
        (5, 1, ("ada", "bob"), "safe here"),
        (5, 1, ("ada",), "saves work"),
        (5, 1, ("ada", "ADA"), "saves work"),  # one mail address
        (4, 3, ("ada", "bob"), "saves work"),
        (2, 3, ("ada",), "saves work"),
        (1, 9, ("ada",), None),  # one decision of one person
        (2, 2, ("ada", "bob"), None),
    ],
)
def test_many_merges_and_people(
    repo: Repo, merges: int, places: int, authors: Sequence[str], standing: str | None
) -> None:
    def text(image: str) -> str:
        return stream(*(deployment(image=image, name=f"app-{at}") for at in range(places)))

    merge = Merge("many", *({PATH: text(image)} for image in UP_THERE))
    write_history(repo, [merge] * merges, authors)
    report = replay(repo)
    found = [
        (p["standing"], p["settled"], p["compared_in"], len(p["authors"]))
        for p in report["proposals"]
    ]
    people = len({author.lower() for author in authors})
    assert found == ([(standing, merges * places, merges, people)] if standing else [])
    assert "example" not in json.dumps(report["proposals"])  # no mail address


def test_the_pattern_is_as_narrow_as_the_past(repo: Repo) -> None:
    right = [UP, UP_THERE]
    files = ("apps/a/web.yaml", "apps/b/web.yaml", "apps/b/db.yml", "jobs/a/b/web.yaml")
    merges = [merge for path in files[:2] for merge in images(right * 2, path)]
    assert proposed(repo, merges) == [("apps/*/web.yaml", IMAGE, "higher", 8, 8)]
    merges += images(right * 2, files[2])
    assert proposed(repo, merges) == [("apps/*/*", IMAGE, "higher", 12, 12)]
    merges += images(right * 2, files[3])
    assert proposed(repo, merges) == [("**/*", IMAGE, "higher", 16, 16)]


def test_what_is_right_in_files_of_a_name_only(repo: Repo) -> None:
    merges = images([UP, UP_THERE] * 3, "a/app.yaml") + images([OTHER] * 8, "b/db.yaml")
    assert proposed(repo, merges) == [("a/app.yaml", IMAGE, "higher", 6, 6)]


@pytest.mark.parametrize(
    "other, expected",
    [
        (OTHER, (PATH, "a.image", "higher", 5, 5)),
        (UP, (PATH, "**.image", "higher", 10, 10)),  # right at both places
    ],
)
def test_what_is_right_at_one_place_only(
    repo: Repo, other: Versions, expected: tuple[str, str, str, int, int]
) -> None:
    """The same name may mean something else deeper in the same file."""
    merge = Merge(
        "both",
        *(
            {PATH: f"a:\n  image: {one}\nb:\n  some: thing\n  c:\n    image: {two}\n"}
            for one, two in zip(UP_THERE, other, strict=True)
        ),
    )
    assert proposed(repo, [merge] * 5) == [expected]


def test_a_safe_narrow_one_comes_before_a_wide_one(repo: Repo) -> None:
    """What the first one settles is no case of the second one."""
    merges = images([UP, UP_THERE] * 5, "a/app.yaml")
    merges += images([*[UP, UP_THERE] * 3, OTHER, OTHER], "b/db.yaml")
    write_history(repo, merges)
    report = replay(repo)
    assert [(p["standing"], *figures(p)) for p in report["proposals"]] == [
        ("safe here", "a/app.yaml", IMAGE, "higher", 10, 10),
        ("saves work", "b/db.yaml", IMAGE, "higher", 8, 6),
    ]
    assert report["gitattributes"] == [
        f"a/app.yaml kmerge-policy={IMAGE}:higher",
        f"b/db.yaml kmerge-policy={IMAGE}:higher",
    ]


def test_a_field_at_the_top_is_meant_in_files_of_that_name(repo: Repo) -> None:
    """Two fields in lines that touch are one conflict of the text, and two for policies."""
    sides = [("1.0", "1.0"), ("1.2", "1.1"), ("1.1", "1.2"), ("1.2", "1.2")]
    merges = [
        Merge(
            folder,
            *(
                {f"{folder}/Chart.yaml": f"name: x\ntype: {v}.0\nappVersion: {a}\n"}
                for v, a in sides
            ),
        )
        for folder in ("c", "d")
    ]
    assert sorted(proposed(repo, merges * 3)) == [
        ("*/Chart.yaml", "appVersion", "higher", 6, 6),
        ("*/Chart.yaml", "type", "higher", 6, 6),
    ]
    left = replay(repo)["left"]
    assert [(group["field"], len(group["conflicts"])) for group in left] == [
        ("appVersion of Chart.yaml", 6),
        ("type of Chart.yaml", 6),
    ]


def bumped(base: str, ours: str, theirs: str, people: str) -> Merge:
    """A chart whose version both sides went up from."""
    versions = (base, ours, theirs, people)
    return Merge("bump", *({"c/Chart.yaml": f"name: x\nversion: {v}\n"} for v in versions))


def test_a_version_that_no_side_has(repo: Repo) -> None:
    """It is compared with people's, too; the first parent's change goes on top."""
    merges = [
        bumped("1.0.0", "1.0.1", "1.1.0", "1.1.1"),
        bumped("1.0.0", "1.1.0", "1.0.1", "1.1.0"),
        bumped("2.3.4", "2.3.5", "2.3.5-0", "2.3.6"),  # a prerelease: it says nothing
    ]
    assert proposed(repo, merges * 3) == [("c/Chart.yaml", "version", "rebump", 6, 6)]


def test_another_number_that_was_free(repo: Repo) -> None:
    """It is another number than people's, but no wrong one; one that a side has is taken."""
    merges = [
        bumped("1.0.0", "1.0.1", "1.1.0", "1.1.1"),
        bumped("1.0.0", "1.0.1", "1.1.0", "1.2.0"),  # 1.1.1 was free
    ]
    taken = bumped("1.0.0", "1.1.0", "1.0.1", "1.2.0")
    write_history(repo, [taken, *merges * 4, merges[0]])
    (proposal,) = replay(repo)["proposals"]
    assert figures(proposal) == ("c/Chart.yaml", "version", "rebump", 10, 5)
    assert (proposal["standing"], proposal["otherwise"], proposal["free"]) == ("saves work", 5, 4)
    out = repo.kmerge("replay").out
    free = "5 as committed, 4 in which the new chart version differs, 1 different"
    assert f"resolves 10 conflicts in 10 of 10 files; {free} (10 merges, 2 authors)\n" in out
    shown = [line.partition("version: ")[2] for line in out.splitlines() if ", committed: " in line]
    assert (
        shown == ["1.1.0, committed: 1.2.0"] + ["1.1.1, committed: 1.2.0"] * 2
    )  # the taken one first
    assert "         and 2 more\n" in out
    out = repo.kmerge("replay", "--policy", "*/Chart.yaml version rebump").out
    assert (
        "      5      different from what was committed (4 in which the new chart version differs)\n"
        in out
    )


def test_a_changelog_goes_with_the_version(repo: Repo) -> None:
    """`mine` decides only where a policy decided the version: the lines switch both on."""

    def chart(version: str, changes: str) -> dict[str, str]:
        text = f"name: x\nannotations:\n  example.com/changes: {changes}\nversion: {version}\n"
        return {"c/Chart.yaml": text}

    sides = [chart("1.0.0", "old"), chart("1.0.1", "ours"), chart("1.1.0", "theirs")]
    write_history(repo, [Merge("changes", *sides, chart("1.1.1", "ours"))] * 5)
    report = replay(repo)
    found = {p["policy"]: p for p in report["proposals"]}
    field = "annotations[example.com/changes]"
    assert figures(found["mine"]) == ("c/Chart.yaml", field, "mine", 5, 5)
    assert report["gitattributes"] == [f"c/Chart.yaml kmerge-policy=version:rebump,{field}:mine"]
    assert found["mine"]["gitattributes"] == report["gitattributes"][0]
    assert found["mine"]["command"] == f"kmerge replay --policy 'c/Chart.yaml {field} mine'"
    repo.world.run("sh", "-c", found["mine"]["config"], cwd=repo.path)
    assert repo.config("kmerge.policy", "--get-all") == [
        "c/Chart.yaml version rebump",
        f"c/Chart.yaml {field} mine",
    ]


def test_a_policy_that_speaks_of_what_is_named_only(repo: Repo) -> None:
    """`higher` leaves a chart's own version alone, unless it is named."""
    merges = [
        bumped("1.0.0", "1.0.1", "1.1.0", "1.1.0"),
        bumped("1.0.0", "1.1.0", "1.0.1", "1.1.0"),
    ]
    assert proposed(repo, merges * 3) == [("c/Chart.yaml", "version", "higher", 6, 6)]


def test_what_a_merge_does_not_keep_is_not_proposed(repo: Repo) -> None:
    """Of elements only a merge can tell what comes of them."""

    def text(*args: str) -> dict[str, str]:
        return {PATH: "spec:\n  args:\n" + "".join(f"  - {word}\n" for word in args)}

    versions = [text("--a"), text("--a", "--b"), text("--a", "--c")]
    wrong = Merge("wrong", *versions, text("--a", "--d"))
    right = Merge("right", *versions, text("--a", "--b", "--c"))
    assert proposed(repo, [wrong] * 6 + [right] * 2) == []


def test_in_a_pick_the_commit_that_is_picked_goes_on_top(repo: Repo) -> None:
    def chart(version: str) -> dict[str, str | bytes]:
        return {"c/Chart.yaml": f"name: x\nversion: {version}\n"}

    repo.commit("base", chart("1.0.0"))
    repo.branch("side")
    theirs = repo.commit("theirs", chart("1.0.1"))
    repo.switch("main")
    repo.commit("ours", chart("1.1.0"))
    picked = repo.commit(f"picked\n\n(cherry picked from commit {theirs})", chart("1.1.1"))
    repo.commit("more", chart("1.2.0"))
    repo.commit(f'Revert "picked"\n\nThis reverts commit {picked}.', chart("1.1.2"))
    report = trial(repo, "**/Chart.yaml version rebump", "--picks")
    assert report["picks"] == {"cherry_picks": 1, "reverts": 1, "elsewhere": 0}
    assert [case["people"] for case in report["conflicts"]] == ["silent", "as people"]


def test_each_resource_of_a_file_is_a_case(repo: Repo) -> None:
    def text(image: str) -> str:
        return stream(*(deployment(image=image, name=f"app-{number}") for number in range(5)))

    merge = Merge("many", *({PATH: text(image)} for image in UP_THERE))
    assert proposed(repo, [merge] * 2) == [(*HIGHER, 10, 10)]
    (group,) = replay(repo)["left"]
    assert [each["resource"] for each in group["conflicts"]][:5] == [
        f"Deployment/app-{number}" for number in range(5)
    ]


@pytest.mark.costly
def test_what_nobody_can_compare_is_not_proposed(repo: Repo) -> None:
    """People deleted the file, renamed the resource, or broke the text."""
    people = [{"README": "x"}, {PATH: deployment(name="new", image="app:1.3")}, {PATH: "a: [\n"}]
    merges = [
        Merge(str(number), *({PATH: deployment(image=i)} for i in UP[:3]), people[number % 3])
        for number in range(9)
    ]
    assert proposed(repo, merges) == []
    report = trial(repo, "* **.image higher")
    assert (report["settled"], report["unknown"], report["as_people"]) == (9, 9, 0)


@pytest.mark.costly
def test_names_that_a_shell_or_a_setting_could_misread_are_not_proposed(repo: Repo) -> None:
    odd = [
        Merge("odd", *({PATH: f'x:\n  "{name}": {image}\n'} for image in UP))
        for name in ("a'b", "$(touch x)", "a,b:ours", "a b", "`x`")
    ]
    name = "a/it's $(x).yaml"
    odd.append(Merge("file", *({name: deployment(image=image)} for image in UP)))
    assert proposed(repo, odd * 5 + images([OTHER] * 5)) == [
        ("a/it?s???x?.yaml", IMAGE, "higher", 5, 5)
    ]


def test_the_lines_to_paste_do_what_they_say(repo: Repo) -> None:
    versions = ("1.0", "1.2", "1.1", "1.2")
    top = Merge("top", *({"c/Chart.yaml": f"name: x\nappVersion: {v}\n"} for v in versions))
    write_history(repo, images([UP, UP_THERE] * 3) + [top] * 5)
    report = replay(repo)
    assert report["gitattributes"] == [
        f"{PATH} kmerge-policy={IMAGE}:higher",
        "c/Chart.yaml kmerge-policy=appVersion:higher",
    ]
    repo.write(".gitattributes", "".join(f"{line}\n" for line in report["gitattributes"]))
    for path, policies in {
        PATH: [(IMAGE, "higher")],
        "c/Chart.yaml": [("appVersion", "higher")],
    }.items():
        attributes = {"kmerge-policy": repo.attribute(path, "kmerge-policy")}
        found = settle(path, [], attributes, {}, {})
        assert (found.policies, found.problems) == (policies, [])
    for proposal in report["proposals"]:
        repo.world.run("sh", "-c", proposal["config"], cwd=repo.path)
    config = [("kmerge.policy", value) for value in repo.config("kmerge.policy", "--get-all")]
    assert settle("c/Chart.yaml", config, {}, {}, {}).policies == [("appVersion", "higher")]
    assert settle(PATH, config, {}, {}, {}).policies == [(IMAGE, "higher")]


@pytest.mark.costly
def test_the_three_reports_say_the_same(repo: Repo, tmp_path: Path) -> None:
    write_history(repo, [*images([UP, UP_THERE] * 3), *images([OTHER]), every_kind(7)])
    page = tmp_path / "page.html"
    out = repo.kmerge("replay", "--html", str(page), "--last", "50").out
    (wrong,) = (case["commit"][:10] for case in replay(repo)["proposals"][0]["wrong"])
    rate = "resolves 7 conflicts in 7 of 7 files; 6 as committed, 1 different (7 merges, 2 authors)"
    assert out.partition("conflicts that git and kmerge leave, by cause and field\n")[2] == (
        f"      7  {Why.BOTH_CHANGED}: **.image\n"
        "\n"
        "policies that agree with past commits (none is enabled)\n"
        f"    1  saves work: higher for {IMAGE} in {PATH}: {rate}\n"
        f"       git config --add kmerge.policy '{PATH} {IMAGE} higher'\n"
        f"         {wrong}  {PATH}: Deployment/web {IMAGE.replace('*', 'name=app')}: app:1.3, "
        "committed: app:2\n"
        "       or, for everybody, in .gitattributes (the last matching line applies):\n"
        f"       {PATH} kmerge-policy={IMAGE}:higher\n"
        f"       to list each case: kmerge replay --policy '{PATH} {IMAGE} higher' --last 50\n"
    )
    html = page.read_text()
    assert "<h2>Policies that agree with past commits <span>1</span></h2>" in html
    assert f"<b>saves work</b>: higher for {IMAGE} in {PATH}: {rate}" in html
    assert f"<pre>{PATH} kmerge-policy={IMAGE}:higher</pre>" in html
    assert "<h2>Conflicts that git and kmerge leave <span>7</span></h2>" in html
    assert f"<td>7</td><td>{Why.BOTH_CHANGED}</td><td>**.image</td>" in html
    report = replay(repo)
    (group,) = report["left"]
    assert (group["cause"], group["field"]) == (Why.BOTH_CHANGED, "**.image")
    assert group["conflicts"][0] == {
        "commit": repo.head("HEAD~3"),
        "path": PATH,
        "resource": "Deployment/web",
        "field": "spec.template.spec.containers[name=app].image",
    }
    assert repo.git("status", "--porcelain").out == ""
    assert not repo.config("kmerge.policy")


def test_what_is_merged_by_lines_is_told_by_its_cause(repo: Repo) -> None:
    def text(value: str, field: str) -> str:
        return f"a: {{{{ .Values.a }}}}\n{field}: {value}\n"

    merges = [
        Merge(name, *({f"{name}/a.yaml": text(value, name)} for value in "1232"))
        for name in ("one", "two")
    ]
    write_history(repo, merges)
    (group,) = replay(repo)["left"]
    assert (group["cause"], group["field"]) == (
        f"both sides changed the same lines: a template: {Why.BOTH_CHANGED}",
        "",
    )
    assert len(group["conflicts"]) == 2


@pytest.mark.costly
def test_two_processes_propose_the_same(repo: Repo) -> None:
    write_history(repo, images([UP, UP_THERE] * 20))
    one, two = (replay(repo, "--jobs", jobs) for jobs in ("1", "2"))
    assert one["proposals"] and one["proposals"] == two["proposals"]
    assert one["left"] == two["left"]


@pytest.mark.costly
def test_a_trial_counts_as_the_proposal_does(repo: Repo) -> None:
    kinds = [UP, UP_THERE] * 5 + [OTHER]
    write_history(repo, images(kinds) + images([("app:1", "app:x", "app:y", "app:x")]))
    past = replay(repo)
    (proposal,) = past["proposals"]
    report = trial(repo, f"{PATH} {IMAGE} higher")
    assert {key: report[key] for key in ("merges", "picks")} == {
        key: past[key] for key in ("merges", "picks")
    }
    assert (report["merges"]["replayed"], report["compared_in"]) == (12, 11)
    assert {key: report[key] for key in proposal} == proposal
    assert figures(report) == (*HIGHER, 11, 10)
    assert (report["otherwise"], report["silent"], report["files_freed"]) == (1, 1, 11)
    assert (report["files_as_people"], report["standing"]) == (10, "safe here")
    silent, apart = report["conflicts"][:2]  # the newest first
    assert silent["people"] == "silent"
    assert {key: apart[key] for key in ("people", "value", "value_of_people", "why")} == {
        "people": "otherwise",
        "value": "app:1.3",
        "value_of_people": "app:2",
        "why": Why.BOTH_CHANGED,
    }


def test_trials_of_given_policies(repo: Repo) -> None:
    """For a command that writes policies: each with its rate, whatever the standing."""
    write_history(repo, images([UP] * 3) + [bumped("1.0.0", "1.0.1", "1.1.0", "1.1.1")] * 5)
    rules = [
        FieldPolicy("*/Chart.yaml", "version", policy) for policy in ("rebump", "higher", "union")
    ]
    repo.git("init", "-q", "empty")
    empty = past_trials(Repository.open(str(repo.path / "empty")), rules, 1)
    assert [(trial.standing, trial.conflicted) for trial in empty] == [("", 0)] * 3
    # also the merges that only the head of a pull request reaches
    repo.git("update-ref", "refs/remotes/origin/pull/1", "HEAD")
    repo.git("update-ref", "refs/heads/main", "HEAD~6")
    trials = past_trials(Repository.open(str(repo.path)), rules, 1, "Chart.yaml")
    assert [(trial.standing, trial.rate) for trial in trials] == [
        ("safe here", "resolves 5 conflicts in 5 of 5 files; 5 as committed"),
        ("", "resolves 5 conflicts in 5 of 5 files; 0 as committed, 5 different"),
        ("", "resolves 0 conflicts in 0 of 5 files; 0 as committed"),
    ]


def test_a_trial_of_a_field_with_a_slip(repo: Repo) -> None:
    write_history(repo, images([UP] * 2, "a/app.yaml"))
    meant = "spec.template.spec.containers[name=app].image"
    said = repo.kmerge("replay", "--policy", f"* {meant.replace('image', 'imgae')} theirs").err
    assert said.endswith(f"is about this field; did you mean `{meant}`?\n")
    assert repo.kmerge("replay", "--policy", "* **.image theirs").err == ""


def test_a_trial_of_one_policy_for_some_files(repo: Repo) -> None:
    write_history(repo, images([UP] * 3, "a/app.yaml") + images([UP] * 2, "b/db.yaml"))
    out = repo.kmerge("replay", "--policy", "b/* **.image theirs").out
    assert out.splitlines() == [
        "5 merges replayed",
        "",
        "      2  conflicts on **.image in b/*",
        "      2    resolved by theirs",
        "      0      same as committed",
        "      2      different from what was committed",
        "      0      not compared: the commit has no such value",
        "      2  files that would have had no conflict",
        "      0    with the same values as the commit",
        "",
        "different from what was committed",
        *(
            f"       {repo.head(f'HEAD{up}')[:10]}  b/db.yaml: Deployment/web "
            "spec.template.spec.containers[name=app].image: app:1.2, committed: app:1.3"
            for up in ("", "~3")
        ),
        "",
        "to enable the policy (not proposed)",
        "       git config --add kmerge.policy 'b/* **.image theirs'",
        "       .gitattributes: b/* kmerge-policy=**.image:theirs",
    ]
    assert trial(repo, "b/* **.image theirs", "HEAD", "--last", "1")["settled"] == 1


@pytest.mark.parametrize(
    "policy, said",
    [
        ("* **.image newest", "unknown policy newest; use one of higher, "),
        ("* **.image hihger", "did you mean `higher`? use one of higher, "),
        ("* a b higher", "'* a b higher' is not a policy; write GLOB FIELD POLICY"),
        ("**.image higher", "'**.image higher' is not a policy; write GLOB FIELD POLICY"),
        ("", "'' is not a policy"),
    ],
)
def test_what_is_no_policy(repo: Repo, policy: str, said: str) -> None:
    repo.commit("base", {PATH: deployment()})
    done = repo.kmerge("replay", "--policy", policy, check=False)
    assert (done.code, said in done.err, done.out) == (2, True, "")


def test_a_file_has_a_time_limit(repo: Repo) -> None:
    """Git's line merge stands then, and the report says so."""
    write_history(repo, images([UP, UP_THERE] * 3))
    repo.git("config", "kmerge.timeout", "0.000001")
    report = replay(repo)
    assert report["counts"]["late"] == report["counts"]["still_conflicts"] == 6
    (group,) = report["left"]
    assert group["cause"].startswith("both sides changed the same lines: no result within ")
    assert report["proposals"] == []
    repo.git("config", "kmerge.timeout", "0")
    assert replay(repo)["counts"]["late"] == 0
