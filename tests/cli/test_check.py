"""`kmerge check`: arguments, files, exit codes, what a user reads."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kmerge_git.cli.main import main

GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: b\n"
BAD = GOOD + "  a: c\n"
WARNED = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  imagePullSecrets:\n  - name: a\n  - name: a\n"
MISSPELT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  strategy:\n    $path: replace\n    type: R\n"

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is in no repository."""
    monkeypatch.chdir(tmp_path)
    for name in [n for n in os.environ if n.startswith("GIT_") or n.endswith("_COLOR")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    return tmp_path


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_exit_codes(capsys: Capture) -> None:
    write({"good.yaml": GOOD, "bad.yaml": BAD, "warned.yaml": WARNED})
    assert main(["check", "good.yaml"]) == 0
    assert capsys.readouterr().out == "1 file checked, nothing found\n"
    assert main(["check", "bad.yaml"]) == 1
    assert main(["check", "warned.yaml"]) == 0
    assert main(["check", "warned.yaml", "--fail-on", "warning"]) == 1
    assert main(["check", "bad.yaml", "--fail-on", "never"]) == 0
    assert main(["check", "good.yaml", "--fail-on", "info", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_usage_errors(capsys: Capture) -> None:
    write({"a.yaml": GOOD})
    for args, said in (
        (["none.yaml"], "kmerge: none.yaml: no such file or folder; check its name\n"),
        (["--select", "X", "a.yaml"], "kmerge: there is no check X; run `kmerge check --list`\n"),
        (["--explain", "D99"], "kmerge: there is no check D99; run `kmerge check --list`\n"),
        (["--staged", "--fix"], "kmerge: --fix cannot change staged content; omit --fix, or --staged\n"),
    ):  # fmt: skip
        assert main(["check", *args]) == 2
        assert capsys.readouterr().err == said


def test_the_other_files_are_checked_if_one_is_missing(capsys: Capture) -> None:
    write({"good.yaml": GOOD, "bad.yaml": BAD})
    for others, found in ((["good.yaml"], []), (["bad.yaml"], ["M02"])):
        assert main(["check", "./none.yaml", *others, "--json", "--fail-on", "never"]) == 2
        said = capsys.readouterr()
        assert [one["id"] for one in json.loads(said.out)["findings"]] == found
        assert said.err == "kmerge: none.yaml: no such file or folder; check its name\n"
    assert main(["check", "none.yaml", "good.yaml"]) == 2
    assert capsys.readouterr().out == "1 file checked, nothing found\n"
    assert main(["check", "./none.yaml"]) == 2
    assert capsys.readouterr().out == ""


def test_a_file_that_may_not_be_read(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"a/secret.yaml": BAD, "a/good.yaml": GOOD})
    monkeypatch.setattr(os, "access", lambda path, mode: "secret" not in path)  # root reads all
    for named in ("a/secret.yaml", "a"):
        assert main(["check", named]) == 2
        said = capsys.readouterr().err
        assert said == "kmerge: a/secret.yaml: this file is not readable; check its permissions\n"


def test_what_is_not_checked_is_told(capsys: Capture) -> None:
    write({"good.yaml": GOOD, "broken.yaml": "a: [1\n", "helm.yaml": "{{- if .b }}\na: 1\n"})
    write({"chart.yaml": "{{- if .b }}\na: 1\n{{- end }}\n"})
    Path("wide.yaml").write_bytes(GOOD.encode("utf-16"))
    assert main(["check", "."]) == 0
    assert capsys.readouterr().out == (
        'not checked: broken.yaml: not YAML: the "[" in line 1 is not closed, or a comma is missing '
        "before this place\n"
        "not checked: wide.yaml: not text: the file is UTF-16\n"
        "not checked: 1 template (--format json lists all)\n"
        "2 files checked, nothing found, 3 skipped\n"
    )
    assert main(["check", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["skipped"] == ["broken.yaml", "helm.yaml", "wide.yaml"]
    why = "a template that cannot be read: `if` has no `end`"
    assert report["why_skipped"]["helm.yaml"] == why
    write({f"{n:02}.yaml": "a: [1\n" for n in range(11)})
    assert main(["check", "."]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 13
    assert said[10] == "... and 3 more (--format json lists all)"


def test_a_broken_manifest(capsys: Capture) -> None:
    write({"manifest.yaml": GOOD + "  b: [1\n"})
    assert main(["check", "manifest.yaml"]) == 1
    assert capsys.readouterr().out.endswith("1 error in 1 of 1 file\n")
    assert main(["check", "manifest.yaml", "--select", "D"]) == 0  # M10 may not speak
    assert "nothing found, 1 skipped" in capsys.readouterr().out


def test_a_broken_file_that_is_named(capsys: Capture) -> None:
    """Named is what pre-commit passes: a template among the files stays skipped."""
    write({"a/broken.yaml": "a: [1\n", "a/helm.yaml": "{{- if .b }}\na: 1\n"})
    assert main(["check", "./a/broken.yaml", "a/helm.yaml"]) == 1
    said = capsys.readouterr().out
    assert "a/broken.yaml:1:6: error M10 not YAML" in said
    assert "not checked: 1 template (--format json lists all)\n" in said
    assert main(["check", "a"]) == 0
    assert main(["check", "a/helm.yaml"]) == 0
    Path("a/latin.yml").write_bytes(b"a: \xe4\n")
    Path("a/sealed.yml").write_bytes(b"\0GITCRYPT\0\xe4")
    assert main(["check", "a/latin.yml"]) == 1
    assert "a/latin.yml:1:4: error M10 byte 0xe4 is not UTF-8" in capsys.readouterr().out
    assert main(["check", "a/sealed.yml"]) == 0


def test_folders_and_names(capsys: Capture) -> None:
    write({
        "a/x.yaml": BAD, "a/y.yml": BAD, "a/z.kyaml": BAD, "a/j.json": '{"a": 1, "a": 2}',
        "a/Kustomization": "replicas: [{name: b, count: 1}, {name: b, count: 2}]\n", "a/t.txt": BAD, "a/.git/c.yaml": BAD,
        "a/node_modules/m/d.yaml": BAD, "other.yaml": BAD,
    })  # fmt: skip
    assert main(["check", "a", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [f["file"] for f in found] == [
        "a/Kustomization", "a/j.json", "a/x.yaml", "a/y.yml", "a/z.kyaml"
    ]  # fmt: skip
    assert main(["check", "--format", "json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["findings"]) == 6
    assert main(["check", "a/t.txt"]) == 1  # named: checked


def test_formats(capsys: Capture) -> None:
    write({"bad.yaml": BAD})
    said = {}
    for name in ("text", "json", "github", "sarif"):
        assert main(["check", "--format", name, "bad.yaml"]) == 1
        said[name] = capsys.readouterr().out
    assert said["text"].startswith("bad.yaml:7:3: error M02 data.a: duplicate key a")
    assert json.loads(said["json"])["findings"][0]["id"] == "M02"
    assert said["github"].startswith("::error file=bad.yaml,line=7,col=3,title=kmerge M02::")
    assert json.loads(said["sarif"])["version"] == "2.1.0"


def test_select_and_ignore(capsys: Capture) -> None:
    write({"a.yaml": BAD})
    assert main(["check", "a.yaml", "--ignore", "M02"]) == 0
    assert main(["check", "a.yaml", "--select", "M01,M05"]) == 0
    assert main(["check", "a.yaml", "--select", "merge-damage"]) == 1
    assert "M02" in capsys.readouterr().out
    assert main(["check", "a.yaml", "--select", "traps"]) == 2


def test_told_what_it_is(capsys: Capture) -> None:
    write(
        {
            "a.yaml": MISSPELT,
            "t.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n",
        }
    )
    assert main(["check", "a.yaml", "--fail-on", "info"]) == 1
    assert "checked as a patch" not in capsys.readouterr().out
    assert main(["check", "--as", "patch", "a.yaml"]) == 1
    assert (
        "checked as a patch, because of rule 0: an option of the command line says so"
        in capsys.readouterr().out
    )
    write({"p-patch.yaml": MISSPELT.replace("$path", "$patch")})
    assert main(["check", "p-patch.yaml"]) == 0
    assert main(["check", "p-patch.yaml", "--target", "t.yaml"]) == 1
    assert "D06" in capsys.readouterr().out
    assert main(["check", "--as", "manifest", "p-patch.yaml"]) == 1
    assert "D60" in capsys.readouterr().out


def test_told_who_reads_it(capsys: Capture) -> None:
    retain = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  strategy:\n"
    retain += "    $retainKeys: [type]\n    type: Recreate\n"
    write({"p.yaml": retain, "t.yaml": retain.replace("    $retainKeys: [type]\n", "")})
    for words, code in (
        (["--tool", "kubectl"], 0),
        (["--tool", "kustomize"], 1),
        (["--tool", "both"], 1),
        (["--target", "t.yaml"], 0),
        (["--target", "t.yaml", "--tool", "kustomize"], 1),
    ):
        assert main(["check", "--as", "patch", "p.yaml", "--fail-on", "info", *words]) == code
        assert ("D61" in capsys.readouterr().out) == bool(code)


@pytest.mark.parametrize(
    "text, why",
    [
        (None, "no such file; "),
        ("a: [1\n", '1:6: not YAML: the "[" in line 1 is not closed, or '),
        ("a: 1\n", "the file has no object with apiVersion and kind; "),
        (GOOD + "---\n" + GOOD, "the file has 2 objects; "),
        (GOOD, "the target is a ConfigMap, but p-patch.yaml changes a Deployment; "),
    ],
)
def test_a_target_that_cannot_be_one(text: str | None, why: str, capsys: Capture) -> None:
    write({"p-patch.yaml": MISSPELT} | ({"t.yaml": text} if text is not None else {}))
    assert main(["check", "p-patch.yaml", "--target", "t.yaml"]) == 2
    said = capsys.readouterr().err
    assert said.removeprefix("kmerge: t.yaml:").lstrip().startswith(why)
    assert "use --target " in said
    assert said.count("\n") == 1


def test_fix(capsys: Capture) -> None:
    write({"a-patch.yaml": MISSPELT, "good.yaml": GOOD, "bad.yaml": BAD})
    assert main(["check", "--dry-run", "a-patch.yaml"]) == 1
    ended = capsys.readouterr()
    assert "-    $path: replace\n+    $patch: replace\n" in ended.out
    assert ended.err == "kmerge: a-patch.yaml: 1 can be fixed: D50\n"
    assert Path("a-patch.yaml").read_text() == MISSPELT

    assert main(["check", "--fix", "a-patch.yaml", "good.yaml"]) == 0
    ended = capsys.readouterr()
    assert ended.out.startswith("--- a/a-patch.yaml\n+++ b/a-patch.yaml\n")
    assert "2 files checked, nothing found" in ended.out
    assert ended.err == "kmerge: a-patch.yaml: 1 fixed: D50\n"
    assert Path("a-patch.yaml").read_text() == MISSPELT.replace("$path", "$patch")

    assert main(["check", "--fix", "bad.yaml"]) == 1  # nothing mechanical there
    assert Path("bad.yaml").read_text() == BAD


def test_colour(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"bad.yaml": BAD})

    def is_colored(*args: str) -> bool:
        main(["check", "bad.yaml", *args])
        return "\033[31m" in capsys.readouterr().out

    assert not is_colored()
    assert is_colored("--color", "always")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert is_colored()
    assert not is_colored("--color", "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not is_colored()


def test_list_and_explain(capsys: Capture) -> None:
    assert main(["check", "--list"]) == 0
    listed = capsys.readouterr().out
    assert "  D12  error    `$patch: replace` in an element with other fields\n" in listed
    for options in (["--list", "--format", "json"], ["--explain", "D12", "a.yaml"]):
        assert main(["check", *options]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith(f"kmerge: {options[0]} cannot be used with ")
    assert main(["check", "--explain", "d12"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "D12: `$patch: replace` in an element with other fields (error, directives)\n"
    )
    for part in ("kubectl:", "kustomize:", "example:", "fix:", "# kmerge: ignore D12"):
        assert part in said


def test_help(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    said = capsys.readouterr().out
    for part in ("examples:", "exit code:", "# kmerge: ignore D12", "--fail-on", "--staged"):
        assert part in said


def test_odd_names_and_line_ends(capsys: Capture) -> None:
    write({"a b/ü,:.yaml": "\ufeff" + BAD.replace("\n", "\r\n")})
    assert main(["check", "."]) == 1
    assert "a b/ü,:.yaml:7:3: error M02" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "[" * 300,
        "a: &a [*a]\n",
        "&a {x: *a}\n",
        "? [a]\n: b\n? [a]\n: c\n",
        "%\n",
        "--- !!x\n",
        "'",
    ],
)
@pytest.mark.parametrize("name", ["a.yaml", "a-patch.yaml", "kustomization.yaml", "a.json"])
def test_odd_files_never_crash(text: str, name: str, capsys: Capture) -> None:
    write({name: text})
    assert main(["check", name]) in (0, 1)
    prefix = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: "
    write({name: prefix + text})
    assert main(["check", "--select", "all", name]) in (0, 1)


BOMB = "\n".join(
    ["a0: &a0 {x: [x, x]}"]
    + [f"a{n}: &a{n} {{l: [*a{n - 1}, *a{n - 1}], m: *a{n - 1}}}" for n in range(1, 40)]
)
CIRCLES = [
    BOMB + "\nspec: {$patch: delete}\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n" + BOMB + "\n$patch: delete\n",
    "apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\n" + BOMB + "\n",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: &s\n  $patch: replace\n  x: *s\n  containers: [*s]\n",
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n"
    "spec:\n  versions:\n  - name: v1\n    schema: {openAPIV3Schema: &a {properties: {x: *a}}}\n",
    "resources: &r [*r]\npatches: &p [{patch: a, target: *p}]\n",
    "sops: {mac: a}\nx: &x [*x]\n",
]


@pytest.mark.parametrize("text", CIRCLES)
@pytest.mark.parametrize("name", ["a.yaml", "a-patch.yaml", "kustomization.yaml"])
def test_bombs_and_circles_of_aliases_are_no_problem(text: str, name: str) -> None:
    write({name: text})
    assert main(["check", "--select", "all", name]) in (0, 1)
