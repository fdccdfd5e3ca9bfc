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

from kmerge_git.git.settings import settle
from kmerge_git.merge.plan import Why

Versions = tuple[str, str, str, str]  # of base, ours, theirs and people
PATH = "apps/web.yaml"
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


def proposed(repo: Repo, merges: Sequence[Merge]) -> list[tuple[str, str, str, int, int]]:
    write_history(repo, merges)
    return [figures(proposal) for proposal in replay(repo)["proposals"]]


@pytest.mark.world
@pytest.mark.parametrize(
    "kinds, expected",
    [
        ([UP, UP_THERE] * 2, []),  # four cases
        ([UP, UP_THERE] * 2 + [UP], [("*", "**.image", "higher", 5, 5)]),
        ([UP, UP_THERE] * 4 + [UP, OTHER], [("*", "**.image", "higher", 10, 9)]),
        ([UP, UP_THERE] * 4 + [OTHER], []),  # eight of nine
        ([DOWN] * 5, [("*", "**.image", "theirs", 5, 5)]),
        ([UP] * 5, [("*", "**.image", "higher", 5, 5)]),  # and not `ours`, which is as right
        ([UP] * 5 + [BRANCH], [("*", "**.image", "higher", 5, 5)]),  # nor where it is more often
    ],
)
def test_nine_of_ten_and_five(
    repo: Repo, kinds: list[Versions], expected: list[tuple[str, str, str, int, int]]
) -> None:
    assert proposed(repo, images(kinds)) == expected


def test_what_is_right_in_files_of_a_name_only(repo: Repo) -> None:
    merges = images([UP, UP_THERE] * 3, "a/app.yaml") + images([OTHER] * 6, "b/db.yaml")
    assert proposed(repo, merges) == [("**/app.yaml", "**.image", "higher", 6, 6)]


def test_what_is_right_at_one_place_only(repo: Repo) -> None:
    """The same name means something else deeper in the same file."""

    def text(one: str, other: str) -> str:
        return f"a:\n  image: {one}\nb:\n  some: thing\n  c:\n    image: {other}\n"

    sides = zip(UP_THERE, OTHER, strict=True)
    merge = Merge("both", *({PATH: text(*pair)} for pair in sides))
    assert proposed(repo, [merge] * 5) == [("*", "a.image", "higher", 5, 5)]


def test_a_wider_one_covers_a_narrower_one(repo: Repo) -> None:
    merges = images([UP, UP_THERE] * 3, "a/app.yaml") + images([UP, UP_THERE] * 3, "b/db.yaml")
    assert proposed(repo, merges) == [("*", "**.image", "higher", 12, 12)]


def test_a_field_at_the_top_is_meant_in_files_of_that_name(repo: Repo) -> None:
    """Two fields in lines that touch are one conflict of the text, and two for policies."""
    sides = [("1.0", "1.0"), ("1.2", "1.1"), ("1.1", "1.2"), ("1.2", "1.2")]
    merge = Merge(
        "chart", *({"c/Chart.yaml": f"name: x\ntype: {v}.0\nappVersion: {a}\n"} for v, a in sides)
    )
    assert sorted(proposed(repo, [merge] * 6)) == [
        ("**/Chart.yaml", "appVersion", "higher", 6, 6),
        ("**/Chart.yaml", "type", "higher", 6, 6),
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
    assert proposed(repo, merges * 3) == [("**/Chart.yaml", "version", "rebump", 6, 6)]


def test_a_policy_that_speaks_of_what_is_named_only(repo: Repo) -> None:
    """`higher` leaves a chart's own version alone, unless it is named."""
    merges = [
        bumped("1.0.0", "1.0.1", "1.1.0", "1.1.0"),
        bumped("1.0.0", "1.1.0", "1.0.1", "1.1.0"),
    ]
    assert proposed(repo, merges * 3) == [("**/Chart.yaml", "version", "higher", 6, 6)]


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
    assert proposed(repo, [merge]) == [("*", "**.image", "higher", 5, 5)]
    (group,) = replay(repo)["left"]
    assert [each["resource"] for each in group["conflicts"]] == [
        f"Deployment/app-{number}" for number in range(5)
    ]


@pytest.mark.costly
def test_what_nobody_can_compare_proves_nothing(repo: Repo) -> None:
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
        ("**/it?s???x?.yaml", "**.image", "higher", 5, 5)
    ]


def test_the_lines_to_paste_do_what_they_say(repo: Repo) -> None:
    """All lines together: what holds for any file holds for those of a name, too."""
    versions = ("1.0", "1.2", "1.1", "1.2")
    top = Merge("top", *({"c/Chart.yaml": f"name: x\nappVersion: {v}\n"} for v in versions))
    write_history(repo, images([UP, UP_THERE] * 3) + [top] * 5)
    report = replay(repo)
    assert report["gitattributes"] == [
        "* kmerge-policy=**.image:higher",
        "**/Chart.yaml kmerge-policy=**.image:higher,appVersion:higher",
    ]
    repo.write(".gitattributes", "".join(f"{line}\n" for line in report["gitattributes"]))
    for path, policies in {
        PATH: [("**.image", "higher")],
        "c/Chart.yaml": [("**.image", "higher"), ("appVersion", "higher")],
    }.items():
        attributes = {"kmerge-policy": repo.attribute(path, "kmerge-policy")}
        found = settle(path, [], attributes, {}, {})
        assert (found.policies, found.problems) == (policies, [])
    for proposal in report["proposals"]:
        repo.world.run("sh", "-c", proposal["config"], cwd=repo.path)
    config = [("kmerge.policy", value) for value in repo.config("kmerge.policy", "--get-all")]
    assert settle("c/Chart.yaml", config, {}, {}, {}).policies == [
        ("**.image", "higher"),
        ("appVersion", "higher"),
    ]


@pytest.mark.costly
def test_the_three_reports_say_the_same(repo: Repo, tmp_path: Path) -> None:
    write_history(repo, [*images([UP, UP_THERE] * 3), every_kind(7)])
    page = tmp_path / "page.html"
    out = repo.kmerge("replay", "--html", str(page), "--last", "50").out
    assert out.partition("in conflict under git and kmerge, by cause and field\n")[2] == (
        f"      6  {Why.BOTH_CHANGED}: **.image\n"
        "\n"
        "policies that the past proves (none is switched on)\n"
        "    1  higher for **.image in any file: 6 settled in 6 merges, 6 as people did\n"
        "       git config --add kmerge.policy '* **.image higher'\n"
        "       or for everybody, in .gitattributes, where the last line for a file counts:\n"
        "       * kmerge-policy=**.image:higher\n"
        "       each case: kmerge replay --policy '* **.image higher' --last 50\n"
    )
    html = page.read_text()
    assert "<h2>Policies that the past proves <span>1</span></h2>" in html
    assert "higher for **.image in any file: 6 settled in 6 merges, 6 as people did" in html
    assert "<pre>* kmerge-policy=**.image:higher</pre>" in html
    assert "<h2>Left under both <span>6</span></h2>" in html
    assert f"<td>6</td><td>{Why.BOTH_CHANGED}</td><td>**.image</td>" in html
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


def test_ours_and_theirs_are_those_of_a_merge(repo: Repo) -> None:
    write_history(repo, images([DOWN] * 5))
    out = repo.kmerge("replay").out
    assert (
        "ours is the branch that is merged into; in a rebase, the one that is rebased onto" in out
    )


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
        f"the lines conflict: a template: {Why.BOTH_CHANGED}",
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
    report = trial(repo, "* **.image higher")
    assert {key: report[key] for key in ("merges", "picks")} == {
        key: past[key] for key in ("merges", "picks")
    }
    assert (report["merges"]["replayed"], report["settled_in"]) == (12, 11)
    assert {key: report[key] for key in proposal} == proposal
    assert figures(report) == ("*", "**.image", "higher", 11, 10)
    assert (report["otherwise"], report["silent"], report["files_freed"]) == (1, 1, 11)
    assert (report["files_as_people"], report["proved"]) == (10, True)
    silent, apart = report["conflicts"][:2]  # the newest first
    assert silent["people"] == "silent"
    assert {key: apart[key] for key in ("people", "value", "value_of_people", "why")} == {
        "people": "otherwise",
        "value": "app:1.3",
        "value_of_people": "app:2",
        "why": Why.BOTH_CHANGED,
    }


def test_a_trial_of_a_field_with_a_slip(repo: Repo) -> None:
    write_history(repo, images([UP] * 2, "a/app.yaml"))
    meant = "spec.template.spec.containers[name=app].image"
    said = repo.kmerge("replay", "--policy", f"* {meant.replace('image', 'imgae')} theirs").err
    assert said.endswith(f"was about it; did you mean `{meant}`?\n")
    assert repo.kmerge("replay", "--policy", "* **.image theirs").err == ""


def test_a_trial_of_one_policy_for_some_files(repo: Repo) -> None:
    write_history(repo, images([UP] * 3, "a/app.yaml") + images([UP] * 2, "b/db.yaml"))
    out = repo.kmerge("replay", "--policy", "b/* **.image theirs").out
    assert out.splitlines() == [
        "5 merges replayed",
        "",
        "      2  conflicts on **.image in b/*",
        "      2    settled by theirs",
        "      0      as people did",
        "      2      differently from people",
        "      0      with nothing in people's commit to compare with",
        "      2  files that would have had no conflict",
        "      0    with the meaning that people committed",
        "",
        "differently from people",
        *(
            f"       {repo.head(f'HEAD{up}')[:10]}  b/db.yaml: Deployment/web "
            "spec.template.spec.containers[name=app].image: app:1.2, people: app:1.3"
            for up in ("", "~3")
        ),
        "",
        "to switch it on all the same (fewer than 5 cases, or than 9 of 10 as people did)",
        "       git config --add kmerge.policy 'b/* **.image theirs'",
        "       .gitattributes: b/* kmerge-policy=**.image:theirs",
    ]
    assert trial(repo, "b/* **.image theirs", "HEAD", "--last", "1")["settled"] == 1


@pytest.mark.parametrize(
    "policy, said",
    [
        ("* **.image newest", "no policy is called newest; they are higher, "),
        ("* **.image hihger", "did you mean `higher`? they are higher, "),
        ("* a b higher", "'* a b higher' is not a policy; it has three words: GLOB FIELD POLICY"),
        ("**.image higher", "'**.image higher' is not a policy; it has three words"),
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
    assert group["cause"].startswith("the lines conflict: no result within ")
    assert report["proposals"] == []
    repo.git("config", "kmerge.timeout", "0")
    assert replay(repo)["counts"]["late"] == 0
