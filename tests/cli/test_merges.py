"""`kmerge merge2` and `kmerge merge3` as a user calls them."""

import io
import json
import os
import shlex
import stat
import subprocess
import sys
import threading

import pytest

import kmerge_git
from kmerge_git.cli.main import main
from kmerge_git.merge.plan import Why

ENV = os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(kmerge_git.__file__))}
ORIGINAL = "a: 1\nb: 1\nc: 1\n"
UPDATED = "a: 2\nb: 1\nc: 2\n"
DEST = "a: 3 # mine\nb: 2\nc: 1\n"
MERGED = "a: 2 # mine\nb: 2\nc: 2\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"o": ORIGINAL, "u": UPDATED, "d": DEST}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def merge3(*more: str) -> int:
    names = ["--original", "o.yaml", "--updated", "u.yaml", "--dest", "d.yaml"]
    return main(["merge3", *names, *more])


def test_to_stdout_with_the_loss_on_stderr(here, capfd):
    assert merge3() == 0
    out, err = capfd.readouterr()
    assert out == MERGED
    assert err == f"lost: a: {Why.BOTH_CHANGED} (M2): dest 3, updated 2\n"


def test_in_place_keeps_the_mode(here, capfd):
    os.chmod("d.yaml", 0o600)
    assert merge3("--in-place") == 0
    assert (here / "d.yaml").read_text() == MERGED
    assert stat.S_IMODE(os.stat("d.yaml").st_mode) == 0o600
    assert capfd.readouterr().out == ""


def test_to_a_file(here):
    assert merge3("-o", "out.yaml") == 0
    assert (here / "out.yaml").read_text() == MERGED
    assert (here / "d.yaml").read_text() == DEST


def test_nothing_is_written_where_nothing_changes(here):
    (here / "u.yaml").write_text(ORIGINAL)
    before = os.stat("d.yaml").st_ino
    assert merge3("--in-place") == 0
    assert os.stat("d.yaml").st_ino == before


def test_dry_run(here, capfd):
    assert merge3("--dry-run") == 0
    assert capfd.readouterr().out == "changed: d.yaml\n"
    assert (here / "d.yaml").read_text() == DEST


def test_explain_and_summary(here, capfd):
    assert merge3("--explain", "--summary", "-o", "out.yaml") == 0
    assert capfd.readouterr().err.splitlines() == [
        f"lost: a: {Why.BOTH_CHANGED} (M2): dest 3, updated 2",
        "c: changed; from updated (M2): dest 1, updated 2",
        "2 from updated, 0 from dest, 1 lost, 0 conflicts",
    ]


def test_rules_git_mark_conflicts(here, capfd):
    (here / "d.yaml").write_text("a: 3\nb: 2\nc: 1\n")
    assert merge3("--rules", "git", "--conflict-style", "diff3") == 1
    out, err = capfd.readouterr()
    assert out.splitlines()[:7] == [
        f"<<<<<<< d.yaml (a: {Why.BOTH_CHANGED})",
        "a: 3",
        "||||||| o.yaml",
        "a: 1",
        "=======",
        "a: 2",
        ">>>>>>> u.yaml",
    ]
    assert err == "conflict: d.yaml: 1 unresolved\n"


def test_stdin(here, capfd, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(UPDATED.encode())))
    names = ["--original", "o.yaml", "--updated", "-", "--dest", "d.yaml"]
    assert main(["merge3", *names]) == 0
    assert capfd.readouterr().out == MERGED


def test_no_infer(here, capfd):
    for name, text in {"o": "1", "u": "2", "d": "1\n  w: 1"}.items():
        (here / f"{name}.yaml").write_text(f"l:\n- name: a\n  v: {text}\n")
    assert merge3() == 0
    assert capfd.readouterr().out == "l:\n- name: a\n  v: 2\n  w: 1\n"
    assert merge3("--no-infer") == 0
    assert capfd.readouterr().out == "l:\n- name: a\n  v: 2\n"


def test_bad_input_is_one_line_and_nothing_is_written(here, capfd):
    (here / "u.yaml").write_text("a: 2\nb: [\n")
    assert merge3("--in-place") == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("kmerge: u.yaml:")
    assert (here / "d.yaml").read_text() == DEST


def test_a_repeated_key_names_the_file(here, capfd):
    (here / "u.yaml").write_text("a: 2\na: 3\n")
    assert main(["merge2", "--src", "u.yaml", "--dest", "d.yaml"]) == 2
    assert capfd.readouterr().err.startswith("kmerge: u.yaml:2:1: duplicate key 'a'")


@pytest.mark.parametrize(
    "argv, why",
    [
        (["--original", "-", "--updated", "-", "--dest", "d.yaml"], "only one of the inputs"),
        (["--original", "o.yaml", "--updated", "u.yaml", "--dest", "none"], "y; check its name"),
        (
            ["--original", "o.yaml", "--updated", "u.yaml", "--dest", "."],
            "; use only files or only",
        ),
        (["-O", "o.yaml", "-U", "u.yaml", "-D", "d.yaml", "-o", "."], "this is a directory"),
        (["-O", "o.yaml", "-U", "u.yaml", "-D", "d.yaml", "--json"], "cannot both go to stdout"),
        (["-O", "o.yaml", "-U", "u.yaml", "-D", "-", "--in-place"], "--in-place needs a file"),
        (
            ["-O", "o.yaml", "-U", "u.yaml", "-D", "d.yaml", "--no-infer", "--rules", "git"],
            "--no-infer needs --rules kyaml",
        ),
    ],
)
def test_what_makes_no_sense(here, capfd, argv, why):
    assert main(["merge3", *argv]) == 2
    err = capfd.readouterr().err
    assert why in err
    assert err.count("\n") == 1


def test_merge2(here, capfd):
    (here / "s.yaml").write_text("a: 5 # new\nb: null\nl:\n- name: n\n")
    (here / "d.yaml").write_text("a: 1\nb: 1\nl:\n- name: a\n")
    assert main(["merge2", "--src", "s.yaml", "--dest", "d.yaml", "--explain"]) == 0
    out, err = capfd.readouterr()
    assert out == "a: 5 # new\nl:\n- name: a\n- name: n\n"
    assert err.splitlines() == [
        "a: replaced; from src (T2): dest 1, src 5",
        "b: cleared by null; from src (T3)",
        "l[name=n]: added; from src (T12)",
    ]
    assert main(["merge2", "--src", "s.yaml", "--dest", "d.yaml", "--prepend"]) == 0
    assert capfd.readouterr().out.endswith("l:\n- name: n\n- name: a\n")


def test_json(here, capfd):
    (here / "o.yaml").write_text('{\n\t"a": 1,\n\t"l": ["x"]\n}')
    (here / "u.yaml").write_text('{\n\t"a": 2,\n\t"l": ["x", "y"]\n}')
    (here / "d.yaml").write_text('{\n\t"a": 1,\n\t"l": ["x"],\n\t"m": {"n": null}\n}')
    assert merge3("--rules", "git") == 0
    assert capfd.readouterr().out == ('{\n\t"a": 2,\n\t"l": ["x", "y"],\n\t"m": {"n": null}\n}')


def test_json_and_quiet_of_one_file(here, capfd):
    assert merge3("-o", "out.yaml", "--json") == 0
    out, err = capfd.readouterr()
    assert err == ""
    report = json.loads(out)
    assert report["files"] == [{"path": "d.yaml", "status": "changed"}]
    [lost] = report["losses"]
    assert (lost["field"], lost["dest"], lost["updated"]) == ("a", "3", "2")
    assert merge3("--quiet") == 0
    assert capfd.readouterr() == (MERGED, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
@pytest.mark.parametrize("argv", [["--dry-run"], []])
@pytest.mark.parametrize("to", ["> /dev/full", ">&-"])
def test_a_stdout_that_takes_nothing_is_one_line(here, argv, to):
    names = ["merge3", "-O", "o.yaml", "-U", "u.yaml", "-D", "d.yaml", "--quiet", *argv]
    called = shlex.join([sys.executable, "-m", "kmerge_git", *names])
    done = subprocess.run(
        f"{called} {to}", check=False, shell=True, capture_output=True, text=True, env=ENV
    )
    assert done.returncode == 2
    assert done.stderr.startswith("kmerge: stdout: ")
    assert done.stderr.count("\n") == 1


def test_a_pipe_is_written_to_and_stays_a_pipe(here):
    os.mkfifo("pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((here / "pipe").read_text()))
    reader.start()
    assert merge3("-o", "pipe") == 0
    reader.join()
    assert found == [MERGED]
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


# -- directories


def secret(name: str, kind: str = "x", more: str = "") -> str:
    return f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\ntype: {kind}\n{more}"


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    both = secret("a") + "---\n"
    files = {
        "o/all.yaml": both + secret("b"),
        "u/all.yaml": secret("a"),
        "u/new/b.yaml": secret("b", "new"),
        "d/all.yaml": both + secret("b", "x", "data: {}\n"),
        "o/both.txt": "1",
        "u/both.txt": "2",
        "d/both.txt": "3",
        "o/gone/x.yaml": secret("x"),
        "d/gone/x.yaml": secret("x"),
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def tree(root) -> dict[str, str]:
    return {p.relative_to(root).as_posix(): p.read_text() for p in root.rglob("*") if p.is_file()}


RESULT = {
    "all.yaml": secret("a"),
    "new/b.yaml": secret("b", "new", "data: {}\n"),
    "both.txt": "3",
}


def test_directories_in_place(folders, capfd):
    argv = ["merge3", "-O", "o", "-U", "u", "-D", "d", "--in-place", "--summary"]
    assert main(argv) == 0
    assert tree(folders / "d") == RESULT
    assert not (folders / "d" / "gone").exists()
    assert capfd.readouterr().err.splitlines() == [
        "moved: Secret/b: all.yaml -> new/b.yaml",
        "lost: both.txt: [line 1]: both sides changed these lines; the lines of `dest` are kept (lines): dest 3, updated 2",
        "4 files: 1 added, 1 deleted, 1 changed, 1 same",
        "1 from updated, 1 from dest, 1 lost, 0 conflicts",
    ]


def test_directories_to_a_new_one(folders):
    assert main(["merge3", "-O", "o", "-U", "u", "-D", "d", "-o", "out"]) == 0
    assert tree(folders / "out") == RESULT
    assert "gone/x.yaml" in tree(folders / "d")


def test_directories_dry_run(folders, capfd):
    before = tree(folders)
    assert main(["merge3", "-O", "o", "-U", "u", "-D", "d", "--dry-run"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "changed: all.yaml",
        "deleted: gone/x.yaml",
        "added: new/b.yaml",
    ]
    assert tree(folders) == before


def test_a_file_that_is_not_merged_counts_under_rules_git(folders):
    (folders / "u" / "both.txt").unlink()
    argv = ["merge3", "-O", "o", "-U", "u", "-D", "d", "--dry-run"]
    assert main([*argv, "--rules", "git"]) == 1
    assert main(argv) == 0


def test_one_bad_file_stops_no_other(folders, capfd):
    (folders / "u" / "new" / "b.yaml").write_text("a: [\n")
    (folders / "d" / "new").mkdir()
    (folders / "d" / "new" / "b.yaml").write_text("a: 1\n")
    (folders / "u" / "new.yaml").write_text("a: 1\n")
    assert main(["merge3", "-O", "o", "-U", "u", "-D", "d", "--in-place"]) == 0
    assert "new/b.yaml: merged with git's line merge: line 1: " in capfd.readouterr().err
    assert tree(folders / "d")["new.yaml"] == "a: 1\n"
    assert tree(folders / "d")["new/b.yaml"] == "a: 1\n"


@pytest.fixture
def renamed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path, text in {
        "o/old.yaml": secret("a"),
        "u/new.yaml": secret("a", "new"),
        "d/old.yaml": secret("a", "x", "data: {}\n"),
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.mark.parametrize("rules", ["kyaml", "git"])
def test_a_renamed_file_is_followed_and_once_more_changes_nothing(renamed, capfd, rules):
    argv = ["merge3", "-O", "o", "-U", "u", "-D", "d", "--rules", rules]
    assert main([*argv, "--dry-run"]) == 0
    out, err = capfd.readouterr()
    assert out == "renamed: new.yaml (from old.yaml)\ndeleted: old.yaml\n"
    assert err == "renamed: old.yaml -> new.yaml\n"
    for _ in range(3):
        assert main([*argv, "--in-place"]) == 0
        assert tree(renamed / "d") == {"new.yaml": secret("a", "new", "data: {}\n")}


def test_json_of_directories(folders, capfd):
    (folders / "d" / "all.yaml").write_text(secret("a", "mine") + "---\n" + secret("b", "mine"))
    (folders / "u" / "all.yaml").write_text(secret("a", "new"))
    assert main(["merge3", "-O", "o", "-U", "u", "-D", "d", "--dry-run", "--json"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    report = json.loads(out)
    assert (report["schema"], report["command"], report["written"]) == (1, "merge3", False)
    assert report["files"] == [
        {"path": "all.yaml", "status": "changed"},
        {"path": "both.txt", "status": "same"},
        {"path": "gone/x.yaml", "status": "deleted"},
        {"path": "new/b.yaml", "status": "added"},
    ]
    assert report["moves"] == [{"resource": "Secret/b", "from": "all.yaml", "to": "new/b.yaml"}]
    keys = "path", "resource", "field", "dest", "updated"
    losses = [tuple(lost[key].strip() for key in keys) for lost in report["losses"]]
    assert losses == [
        ("all.yaml", "Secret/a", "type", "mine", "new"),
        ("both.txt", "", "[line 1]", "3", "2"),
        ("new/b.yaml", "Secret/b", "type", "mine", "new"),
    ]
    assert report["conflicts"] == report["unmerged"] == []


def test_json_of_a_conflict_and_of_what_is_not_merged(folders, capfd):
    (folders / "u" / "both.txt").unlink()
    (folders / "d" / "all.yaml").write_text(secret("a", "mine"))
    (folders / "u" / "all.yaml").write_text(secret("a", "new"))
    argv = ["merge3", "-O", "o", "-U", "u", "-D", "d", "--dry-run", "--json", "--rules", "git"]
    assert main(argv) == 1
    report = json.loads(capfd.readouterr().out)
    assert [(c["path"], c["count"]) for c in report["conflicts"]] == [("all.yaml", 1)]
    assert [u["path"] for u in report["unmerged"]] == ["both.txt", "new/b.yaml"]


def test_quiet_hides_losses_and_not_what_needs_a_person(folders, capfd):
    (folders / "u" / "both.txt").unlink()
    (folders / "u" / "new" / "b.yaml").write_text(secret("b", "new"))
    (folders / "d" / "all.yaml").write_text(secret("a") + "---\n" + secret("b", "mine"))
    argv = ["merge3", "-O", "o", "-U", "u", "-D", "d", "--dry-run"]
    main(argv)
    loud = capfd.readouterr().err.splitlines()
    main([*argv, "--quiet"])
    quiet = capfd.readouterr().err.splitlines()
    assert [line for line in loud if line not in quiet] == [
        f"lost: new/b.yaml: Secret/b type: {Why.BOTH_CHANGED} (M2): dest mine, updated new"
    ]
    assert any(line.startswith("not merged: both.txt") for line in quiet)


@pytest.mark.parametrize(
    "more, why", [([], "cannot be written to stdout"), (["-o", "u"], "the output exists")]
)
def test_directories_need_a_place(folders, capfd, more, why):
    assert main(["merge3", "-O", "o", "-U", "u", "-D", "d", *more]) == 2
    assert why in capfd.readouterr().err


def test_merge2_of_directories(folders, capfd):
    assert main(["merge2", "-S", "u", "-D", "d", "--in-place"]) == 0
    assert tree(folders / "d") == {
        "all.yaml": secret("a") + "---\n" + secret("b", "new", "data: {}\n"),
        "both.txt": "3",
        "gone/x.yaml": secret("x"),
    }


DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n"


@pytest.mark.parametrize(
    "source, dest, why",
    [
        ("null\n", DEPLOYMENT, "1:1: the source is not a resource"),
        (
            "kind: Service\n",
            DEPLOYMENT,
            "1:1: the kind of the source differs from the one in the destination",
        ),
        (
            "a: 1\n---\nb: 1\n",
            DEPLOYMENT,
            "1:1: kmerge cannot determine the resource that this source applies to",
        ),
        (
            "spec: {}\n",
            DEPLOYMENT + "---\n" + DEPLOYMENT.replace("web", "api"),
            "1:1: kmerge cannot determine the resource that this source applies to",
        ),
    ],
)
def test_merge2_does_not_guess_which_resource(tmp_path, capfd, source, dest, why):
    (tmp_path / "src.yaml").write_text(source)
    (tmp_path / "dest.yaml").write_text(dest)
    argv = ["merge2", "--src", str(tmp_path / "src.yaml"), "--dest", str(tmp_path / "dest.yaml")]
    assert main([*argv, "--in-place"]) == 2
    assert why in capfd.readouterr().err
    assert (tmp_path / "dest.yaml").read_text() == dest
