"""`kmerge status FILE`: every setting in force, who said so, and in which order policies are asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from world import Driven, Repo, World

from kmerge_git.git.manifests import generator_line
from kmerge_git.git.settings import settings_for

POD = "kind: Pod\nmetadata:\n  name: a\n"


def told(repo: Repo, path: str, **env: str) -> dict[str, Any]:
    done = repo.kmerge("status", "--json", path, check=False, env=env)
    found = json.loads(done.out)
    (file,) = found["files"]
    assert (found["schema"], found["ok"]) == (1, done.code == 0)
    assert file["driver"] is found["ok"] is (file["why"] == "")
    assert isinstance(file, dict)
    return file


def said(file: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {
        row["name"]: (row["value"], " ".join(filter(None, (row["by"], row["key"], row["place"]))))
        for row in file["settings"]
    }


DEFAULTS = {
    "rules": ("git", "default"),
    "favor": ("none", "default"),
    "timeout": ("10 s", "default"),
    "conflict style": ("merge", "default"),
    "marker size": ("7", "default"),
    "generated": ("no", "default"),
}


def test_nothing_is_set(driven: Driven) -> None:
    driven.commit("start", {"a.yaml": POD})
    file = told(driven, "a.yaml")
    merge = ("kmerge", "attribute merge .git/info/attributes:1")
    assert said(file) == {"merge": merge, **DEFAULTS}
    assert [file[name] for name in ("policies", "notes", "problems")] == [[], [], []]
    assert driven.kmerge("status", "a.yaml").lines == [
        "a.yaml: merged by the driver",
        "  merge           kmerge  attribute merge (.git/info/attributes:1)",
        "  rules           git     default",
        "  favor           none    default",
        "  timeout         10 s    default",
        "  conflict style  merge   default",
        "  marker size     7       default",
        "  generated       no      default",
    ]


def test_flag_by_flag_the_one_who_is_heard(driven: Driven, world: World) -> None:
    attributes = (
        "*.yaml kmerge-rules=kyaml kmerge-favor=nobody kmerge-policy=version:higher,ours\n"
        "# a comment\n"
        "a/*.yaml conflict-marker-size=9 kmerge-crd=crds,more\n"
    )
    files = {".gitattributes": attributes, "a/.gitattributes": "x.* -kmerge-generated\n"}
    driven.commit("start", {"a/x.yaml": POD, **files})
    for key, value in (
        ("kmerge.rules", "git"),
        ("kmerge.favor", "ours"),
        ("kmerge.favor", "mine"),
        ("kmerge.timeout", "3"),
        ("merge.conflictStyle", "diff3"),
        ("kmerge.crd", "mine"),
        ("kmerge.policy", "b/* **.tag theirs"),
        ("kmerge.policy", "a/* **.image higher"),
    ):
        driven.git("config", "--add", key, value)
    driven.git("config", "--global", "kmerge.conflictStyle", "zdiff3")
    file = told(driven, "a/x.yaml", KMERGE_TIMEOUT="5")
    assert said(file) == {
        "merge": ("kmerge", "attribute merge .git/info/attributes:1"),
        "rules": ("kyaml", "attribute kmerge-rules .gitattributes:1"),
        "favor": ("ours", "config kmerge.favor local, .git/config"),
        "timeout": ("5 s", "environment KMERGE_TIMEOUT"),
        "conflict style": (
            "zdiff3",
            f"config kmerge.conflictstyle global, {world.home}/.gitconfig",
        ),
        "marker size": ("9", "attribute conflict-marker-size .gitattributes:3"),
        "generated": ("no", "attribute kmerge-generated a/.gitattributes:1"),
        "crd": ("more", "attribute kmerge-crd .gitattributes:3"),
    }
    crds = [row["value"] for row in file["settings"] if row["name"] == "crd"]
    assert crds == ["mine", "crds", "more"]
    policies = [(row["field"], row["policy"], row["by"]) for row in file["policies"]]
    assert policies == [
        ("version", "higher", "attribute"),
        ("**", "ours", "attribute"),
        ("**.image", "higher", "config"),
    ]
    problems = [problem.partition(":")[0] for problem in file["problems"]]
    assert problems == ["kmerge.favor", "kmerge-favor", "kmerge.crd", "kmerge-crd", "kmerge-crd"]


def test_what_is_shown_is_what_the_driver_hears(
    driven: Driven, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "*.yaml kmerge-favor=none conflict-marker-size=x kmerge-policy=a:ours,b:odd\n"
    driven.commit("start", {"a.yaml": POD, ".gitattributes": lines})
    driven.git("config", "kmerge.favor", "theirs")
    driven.git("config", "kmerge.timeout", "0")
    file = told(driven, "a.yaml", KMERGE_RULES="nonsense")
    monkeypatch.chdir(driven.path)
    monkeypatch.setenv("KMERGE_RULES", "nonsense")
    heard = settings_for("a.yaml")
    assert file["problems"] == heard.problems
    assert [(p["field"], p["policy"]) for p in file["policies"]] == heard.policies
    assert said(file) == DEFAULTS | {
        "merge": ("kmerge", "attribute merge .git/info/attributes:1"),
        "favor": ("none", "attribute kmerge-favor .gitattributes:1"),
        "timeout": ("no limit", "config kmerge.timeout local, .git/config"),
    }


@pytest.mark.parametrize(
    "attribute, env, why",
    [
        ("!merge", {}, "no attribute sets merge=kmerge"),
        ("merge", {}, "no attribute sets merge=kmerge"),
        ("-merge", {}, "the attributes turn merging off"),
        ("merge=mergiraf", {}, "the attributes set merge=mergiraf"),
        ("merge=kmerge", {"KMERGE": "0"}, "KMERGE=0 turns the driver off"),
    ],
)
def test_why_the_driver_does_not_take_it(
    driven: Driven, attribute: str, env: dict[str, str], why: str
) -> None:
    (driven.path / ".git" / "info" / "attributes").unlink()
    driven.commit("start", {"a.yaml": POD, ".gitattributes": f"*.yaml {attribute}\n"})
    file = told(driven, "a.yaml", **env)
    assert file["why"] == why
    takes = "`kmerge merge`, `kmerge solve` and `kmerge preview` merge this file nevertheless"
    assert file["notes"] == ([takes] if attribute in ("!merge", "merge", "merge=kmerge") else [])


def test_it_is_not_registered(repo: Repo) -> None:
    repo.commit("start", {"a.yaml": POD, ".gitattributes": "*.yaml merge=kmerge\n"})
    file = told(repo, "a.yaml")
    assert file["why"] == "the driver is not registered; run `kmerge install`"


def test_other_ways_than_a_merge_are_told(driven: Driven) -> None:
    sealed = "a: ENC[x]\nsops:\n  mac: ENC[1]\n"
    attributes = "s.yaml filter=git-crypt\ng.yaml kmerge-generated\n"
    driven.commit("start", {".gitattributes": attributes, "s.yaml": sealed, "g.yaml": POD})
    driven.git("config", "kmerge.favor", "ours")
    done = driven.kmerge("status", "s.yaml", "g.yaml")
    assert "  this is a SOPS file: it is in conflict if both sides change it" in done.out
    assert "converts this file with the filter 'git-crypt': `kmerge resolve` skips it" in done.out
    assert "generate it again, then `git add` it" in done.out
    assert "the setting `favor` has no effect on a " in done.out


@pytest.mark.parametrize(
    "attributes, place",
    [
        ({".gitattributes": "*.yaml kmerge-rules=kyaml\n*.yml kmerge-rules=git\n"}, ".gitattributes:1"),
        ({".gitattributes": '"/a/b c.yaml" kmerge-rules=kyaml\n'}, ".gitattributes:1"),
        ({".gitattributes": "* kmerge-rules=git\n**/b* kmerge-rules=kyaml\n"}, ".gitattributes:2"),
        (
            {".gitattributes": "* kmerge-rules=git\n", "a/.gitattributes": "\n* kmerge-rules=kyaml\n"},
            "a/.gitattributes:2",
        ),
        ({".git/info/attributes": "* kmerge-rules=kyaml\n"}, ".git/info/attributes:1"),
        # git takes these, and we do not tell where they stand
        ({".gitattributes": "*.yam[l] kmerge-rules=kyaml\n"}, ""),
        ({".gitattributes": "[attr]odd kmerge-rules=kyaml\n*.yaml odd\n"}, ""),
        ({".gitattributes": "* kmerge-rules=kyaml\n[attr]other -diff\n"}, ".gitattributes:1"),
        ({".gitattributes": "b[a-z] kmerge-rules=git\n* kmerge-rules=kyaml\n"}, ".gitattributes:2"),
        ({".gitattributes": "* kmerge-rules=kyaml\nb[a-z] kmerge-rules=git\n"}, ""),
        ({".gitattributes": "* kmerge-rules=kyaml\n*.y\\aml kmerge-rules=kyaml\n"}, ""),
        (
            {
                ".gitattributes": "[attr]odd kmerge-rules=kyaml\n* kmerge-rules=kyaml\n",
                ".git/info/attributes": "* odd\n",
            },
            "",
        ),
    ],
)  # fmt: skip
def test_the_line_is_named_where_it_is_certain(
    repo: Repo, attributes: dict[str, str], place: str
) -> None:
    for name, text in attributes.items():
        repo.write(name, text)
    repo.write("a/b c.yaml", POD)
    assert repo.attribute("a/b c.yaml", "kmerge-rules") == "kyaml"
    source = said(told(repo, "a/b c.yaml"))["rules"]
    assert source == ("kyaml", f"attribute kmerge-rules {place}".strip())


def test_the_users_attribute_file_may_be_named_for_one_repository(repo: Repo, world: World) -> None:
    usual = world.home / ".config" / "git" / "attributes"
    usual.parent.mkdir(parents=True)
    for file in (usual, world.home / "other"):
        file.write_text("* kmerge-rules=kyaml\n")
    repo.write("a.yaml", POD)
    for name, place in (("", "~/.config/git/attributes:1"), ("~/other", "~/other:1")):
        if name:
            repo.git("config", "core.attributesFile", name)
        assert said(told(repo, "a.yaml"))["rules"] == ("kyaml", f"attribute kmerge-rules {place}")


def test_names_of_files(driven: Driven, world: World) -> None:
    driven.commit("start", {"a/gone.yaml": POD, "a/x.yaml": POD})
    (driven.path / "a" / "gone.yaml").unlink()
    here = driven.path / "a"
    done = world.kmerge("status", "x.yaml", "gone.yaml", "x.yaml", cwd=here)
    assert [line.partition(":")[0] for line in done.lines if line[0] != " "] == [
        "a/x.yaml",
        "a/gone.yaml",
    ]
    for name, why in (
        ("none.yaml", "no such file"),
        (".", "this is a directory"),
        ("/", "outside"),
    ):
        done = world.kmerge("status", name, cwd=here, check=False)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert why in done.err
    assert world.kmerge("status", "x.yaml", check=False).code == 2


def test_what_a_file_is_called_drives_no_terminal(driven: Driven) -> None:
    driven.commit("start", {"a\x1b[31m.yaml": POD})
    done = driven.kmerge("status", "a\x1b[31m.yaml")
    assert done.lines[0] == "a\\x1b[31m.yaml: merged by the driver"


GENERATED = [
    "# Code generated by controller-gen. DO NOT EDIT.\nkind: A\n",
    "---\n# Source: app/templates/web.yaml\nkind: A\n",
    "\n# This file is generated by hack/update.sh\nkind: A\n",
    "# This file was automatically generated\n",
    "# Autogenerated from chart metadata using helm-docs\na: 1\n",
    "# @generated\na: 1\n",
    "\ufeff# auto-generated, do not edit\na: 1\n",
    "# DO NOT EDIT: Generated by make manifests\na: 1\n",
    "# Warning: automatically generated file\na: 1\n",
    "# This is an auto-generated file. DO NOT EDIT\na: 1\n",
    "# WARNING: This file is autogenerated. Do not manually edit.\na: 1\n",
    "# THIS FILE IS AUTO GENERATED\na: 1\n",
    "---\n# This manifest was generated by flux. DO NOT EDIT.\na: 1\n",
    "# The manifests here were generated by make; do not change them\na: 1\n",
    "## Generated using kubebuilder\na: 1\n",
    "kind: CustomResourceDefinition\nmetadata:\n  annotations:\n"
    "    controller-gen.kubebuilder.io/version: v0.14.0\n",
]
BY_HAND = [
    "",
    POD,
    "# This file is not generated\nkind: A\n",
    "# This file is not auto-generated\nkind: A\n",
    "# configuration will be generated from the configs of cloud provider\na: 1\n",
    "# The password is automatically generated if it is empty\na: 1\n",
    "# README.md is generated by helm-docs from this file\na: 1\n",
    "# Secrets generated by external-secrets stand elsewhere\na: 1\n",
    "# values that are auto-generated by the operator\na: 1\n",
    "# Generated by default; set it to keep it\na: 1\n",
    "# Auto-generated passwords are kept\na: 1\n",
    "# see the file generated by `make manifests`\na: 1\n",
    "# edit this: bundle.yaml is generated from it\na: 1\n",
    "# values of the chart, documented by helm-docs\na: 1\n",
    "kind: A\n# Code generated by hand. DO NOT EDIT.\n",
    "# Source: https://example.org/\nkind: A\n",
    "a: '# Code generated by x. DO NOT EDIT.'\n",
    "a: 1\n" * 30 + "controller-gen.kubebuilder.io/version: v0\n",
]


def test_what_the_first_lines_say() -> None:
    assert [text for text in GENERATED if not generator_line(text.encode())] == []
    assert [text for text in BY_HAND if generator_line(text.encode())] == []
    assert generator_line(b"\xff\xfe\0\n" * 9) == ""


def test_the_attribute_is_proposed_and_never_set(driven: Driven) -> None:
    files = {f"d/{number}.yaml": text for number, text in enumerate(GENERATED[:8])}
    lines = "d/0.yaml kmerge-generated\nd/1.yaml -kmerge-generated\nl.yaml linguist-generated\n"
    driven.commit("start", files | {"l.yaml": POD, "m.yaml": POD, ".gitattributes": lines})
    file = told(driven, "d/2.yaml")
    assert (file["generated"], file["looks_generated"]) == (
        False,
        "`# This file is generated by hack/update.sh` at the top of the file",
    )
    found = [told(driven, path)["looks_generated"] for path in ("d/0.yaml", "d/1.yaml", "m.yaml")]
    assert found == ["", "", ""]
    assert told(driven, "l.yaml")["looks_generated"] == "the attribute linguist-generated"
    done = driven.kmerge("status", check=False)  # the line notes its calls here
    assert "warn  generated: 7 files seem to be generated: d/2.yaml, d/3.yaml, d/4.yaml, ..." in (
        done.lines
    )
    assert "add `/d/2.yaml kmerge-generated` to .gitattributes" in done.out
    assert driven.text(".gitattributes") == lines
    assert driven.git("status", "--porcelain").out == ""


def test_checks_that_are_left_out(driven: Driven) -> None:
    driven.commit("start", {"a.yaml": POD, "b.yaml": POD})
    driven.write(".gitattributes", "a.yaml kmerge-check=-M11,M05\nb.yaml -kmerge-check\n")
    driven.git("config", "kmerge.check.ignore", "merge-damage,X9")
    file = told(driven, "a.yaml", KMERGE_CHECK_IGNORE="D65")
    rows = [row for row in file["settings"] if row["name"] == "check"]
    assert [(row["value"], row["by"], row["key"], row["place"]) for row in rows] == [
        ("-M11,M05", "attribute", "kmerge-check", ".gitattributes:1"),
        ("-D65", "environment", "KMERGE_CHECK_IGNORE", ""),
        ("-merge-damage,-X9", "config", "kmerge.check.ignore", "local, .git/config"),
    ]
    assert file["problems"] == [
        "kmerge-check: `M05` has no leading `-`; write kmerge-check=-M11, or -kmerge-check to switch off all checks",
        "kmerge.check.ignore: there is no check X9; run `kmerge check --list`",
    ]
    assert said(told(driven, "b.yaml"))["check"] == (
        "-merge-damage,-X9",
        "config kmerge.check.ignore local, .git/config",
    )
    assert "no check" in driven.kmerge("status", "b.yaml").out


def test_the_timestamp_that_needs_no_policy(driven: Driven) -> None:
    note = "if both sides change `{}`, the later time is taken (rule 16)"
    operator = POD.replace("Pod", "ClusterServiceVersion")
    lock = "dependencies: []\ndigest: sha256:0\ngenerated: x\n"
    files = {"o.yaml": operator, "c/Chart.lock": lock, "index.yaml": "entries: {}\n", "p.yaml": POD}
    driven.commit("start", {**files, "x.yaml": lock})
    found = {name: told(driven, name)["notes"] for name in (*files, "x.yaml")}
    assert note.format("metadata.annotations.createdAt") in found["o.yaml"]
    for name in ("c/Chart.lock", "index.yaml"):
        assert note.format("generated") in found[name]
    for name in ("p.yaml", "x.yaml"):
        assert not any("rule 16" in line for line in found[name])
