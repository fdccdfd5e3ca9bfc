"""`kmerge resolve` with a person, in real repositories and a real pseudo-terminal."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

pytest.importorskip("termios")

from depth import is_whole, kill_points
from manifests import deployment, service
from terminal import Terminal
from test_solve_killed import killed, steps, were_all_killed
from world import Done, Repo

from kmerge_git.merge.plan import Why
from kmerge_git.text.markers import first_marker

PROMPT = "?] "
CHART = "apiVersion: v2\nname: web\nversion: 1.{}.0\n"
BASE = {
    "app.yaml": deployment(),
    "chart/Chart.yaml": CHART.format(0),
    "gone.yaml": service(80, "gone"),
    "note.txt": "one\n",
}
OURS = {
    "app.yaml": deployment(replicas=2, image="app:2", env=("A=1", "OURS=1")),
    "chart/Chart.yaml": CHART.format(9),
    "note.txt": "ours\n",
}
THEIRS = {
    "app.yaml": deployment(replicas=3, image="app:10", env=("A=1", "THEIRS=1")),
    "chart/Chart.yaml": CHART.format(10),
    "gone.yaml": service(81, "gone"),
    "note.txt": "theirs\n",
}


RESOLVE = (sys.executable, "-m", "kmerge_git", "resolve")


class Person(Terminal):
    """Somebody who answers."""

    def __init__(
        self, repo: Repo, *args: str, command: tuple[str, ...] = RESOLVE, **variables: str
    ) -> None:
        super().__init__([*command, *args], cwd=repo.path, env=repo.world.env | variables)

    def question(self, about: str) -> str:
        """Wait until it is asked about a field."""
        return self.wait(about) + self.wait(PROMPT)


@pytest.fixture
def stopped(repo: Repo) -> Repo:
    """A merge that stopped: two conflicts in app.yaml, one in Chart.yaml, a deletion, a text."""
    repo.commit("base", BASE)
    repo.branch("side")
    repo.commit("theirs", THEIRS)
    repo.switch("main")
    (repo.path / "gone.yaml").unlink()
    repo.commit("ours", OURS)
    assert repo.merge().code == 1
    assert repo.unmerged() == [*sorted(BASE)]
    return repo


@pytest.mark.costly
def test_from_the_first_question_to_the_commit(stopped: Repo) -> None:
    with Person(stopped) as it:
        shown = it.question("spec.replicas")
        assert (
            "  | spec:\n  base" in shown and "  ours (HEAD)     2\n  theirs (side)   3\n" in shown
        )
        it.press("h")
        assert "cannot use this answer: a plain number is not a version" in it.wait(PROMPT)
        it.press("o")
        assert "  theirs (side)   app:10 (higher)\n" in it.question("image")
        it.press("h")
        done = "theirs: app:10\napp.yaml: resolved, written and staged\n"
        assert done in it.question("version")
        it.press("t")
        it.question("gone.yaml")
        it.press("t")
        assert it.end() == 0
        assert it.is_normal()
        assert "still in conflict (not a manifest): note.txt" in it.rest()
        assert "`git commit`" not in it.rest()
    assert stopped.unmerged() == ["note.txt"]
    assert stopped.text("app.yaml") == deployment(2, "app:10", ("A=1", "OURS=1", "THEIRS=1"))
    assert stopped.show(":chart/Chart.yaml") == THEIRS["chart/Chart.yaml"]
    assert stopped.show(":gone.yaml") == THEIRS["gone.yaml"]
    stopped.git("add", "note.txt")
    stopped.git("commit", "-q", "--no-edit")


@pytest.mark.costly
def test_the_lines_above_have_the_answers_so_far(repo: Repo) -> None:
    """Also in a file with line ends of Windows, and with the byte order mark."""
    text = "\ufeffa: {0}\r\nsame: x\r\nb: {0}\r\nlast: y\r\n"
    repo.fork(*({"values.yaml": text.format(n)} for n in "123"))
    repo.merge()
    with Person(repo) as it:
        assert "\n  | same: x\n  | b: 2\nWhich" in it.question("1 of 2")
        it.press("t")
        shown = it.question("2 of 2")
        assert "\n  | a: 3\n  | same: x\n  base" in shown and "\n  | last: y\nWhich" in shown
        it.press("q")
        it.end()


@pytest.mark.costly
def test_back_over_a_staged_file(stopped: Repo) -> None:
    with Person(stopped) as it:
        it.question("spec.replicas")
        it.press("oo")
        it.question("image")
        assert "app.yaml: resolved, written and staged" in it.question("version")
        assert stopped.unmerged() == ["chart/Chart.yaml", "gone.yaml", "note.txt"]
        it.press("k")
        assert "answer: ours" in it.question("image")
        it.press("t")
        it.question("version")
        assert "image: app:10" in stopped.show(":app.yaml")
        it.press("kk")
        it.question("image")
        it.question("replicas")
        it.press("s")
        assert "app.yaml: in conflict again" in it.question("version")
        assert "app.yaml" in stopped.unmerged()
        assert first_marker(stopped.text("app.yaml")) >= 0
        it.press("q")
        assert it.end() == 1
        assert "open    app.yaml: 1 conflict\n" in it.rest()
    assert stopped.unmerged() == [*sorted(BASE)]
    text = stopped.text("app.yaml")
    assert "image: app:10" in text and text.count("<<<<<<<") == 1
    with Person(stopped) as it:
        assert "4 conflicts in 3 files, 1 already answered" in it.question("spec.replicas")
        it.press("\x04")
        assert it.end() == 1
    assert stopped.text("app.yaml") == text


@pytest.mark.costly
def test_one_answer_for_all_like_this(repo: Repo) -> None:
    files = [f"{name}/Chart.yaml" for name in "abc"]
    repo.fork(*(dict.fromkeys(files, CHART.format(n)) for n in (0, 9, 10)))
    repo.merge()
    with Person(repo) as it:
        it.question("version")
        it.press("ah")
        assert f"3 conflicts in 3 files like this: version, {Why.BOTH_CHANGED}" in it.wait(
            "other keys: none]"
        )
        assert it.end() == 0
        assert "3 files staged; finish with `git commit`" in it.rest()
    assert [repo.show(f":{file}") for file in files] == [CHART.format(10)] * 3
    repo.git("commit", "-q", "--no-edit")
    assert not (repo.path / ".git" / "kmerge-answers").exists()


def editor(folder: Path, *scripts: str) -> str:
    """An editor that does one thing after the other."""
    file = folder / "editor"
    parts = "".join(f"{n}) {script};;\n" for n, script in enumerate(scripts, 1))
    count = 'n=$(cat "$D/n" 2>/dev/null || echo 0); n=$((n+1)); echo $n >"$D/n"\n'
    file.write_text(f"#!/bin/sh\nD='{folder}'\n{count}case $n in\n{parts}esac\n")
    file.chmod(0o755)
    return str(file)


@pytest.mark.costly
def test_rubbish_of_an_editor_is_refused(stopped: Repo, tmp_path: Path) -> None:
    values = ("a: [", '"open', "", "app:11")
    scripts = [f"printf '{value}\\n' >\"$1\"" for value in values]
    with Person(stopped, GIT_EDITOR=editor(tmp_path, *scripts)) as it:
        it.question("spec.replicas")
        it.press("s")
        it.question("image")
        it.press("e")
        it.wait("cannot use this answer: the answer is not valid YAML")
        it.press("y")
        it.wait("cannot use this answer: ")
        it.press("y")
        it.wait("no answer was given: the text is empty")
        it.wait(PROMPT)
        it.press("e")
        it.question("version")
        it.press("q")
        assert it.end() == 1
    assert stopped.text("app.yaml").count("<<<<<<<") == 1
    assert "image: app:11" in stopped.text("app.yaml")


@pytest.mark.costly
def test_rubbish_in_the_place_of_a_file_is_refused(stopped: Repo, tmp_path: Path) -> None:
    scripts = ["printf '{[\\n' >\"$1\"", "printf 'a: 1\\na: 2\\n' >\"$1\""]
    with Person(stopped, GIT_EDITOR=editor(tmp_path, *scripts)) as it:
        it.question("spec.replicas")
        it.press("ss")
        it.question("version")
        it.press("s")
        it.question("gone.yaml")
        it.press("e")
        it.wait("the file would be damaged")
        it.press("y")
        it.wait("duplicate key")
        it.press("n")
        it.wait(PROMPT)
        it.press("q")
        assert it.end() == 1
    assert "gone.yaml" in stopped.unmerged()


@pytest.mark.costly
def test_lines_are_edited_as_they_stand(repo: Repo, tmp_path: Path) -> None:
    base, ours, theirs = (
        deployment() + "        args:\n        - a\n" + "".join(f"        - {x}\n" for x in more)
        for more in ("", "b", "cd")
    )
    repo.fork({"app.yaml": base}, {"app.yaml": ours}, {"app.yaml": theirs})
    repo.merge()
    drop = 'sed -e \'/^[<=>|]\\{7\\}/d\' "$1" >"$D/x"; cp "$D/x" "$1"'
    wrong = f"{drop}; echo 'x: [' >>\"$1\""
    mend = 'grep -v x: "$1" >"$D/x"; cp "$D/x" "$1"'
    with Person(repo, GIT_EDITOR=editor(tmp_path, wrong, mend)) as it:
        it.question("args[1-2]")
        it.press("e")
        it.wait("cannot use this answer: ")
        it.wait("[y,n] ")
        it.press("y")
        assert it.end() == 0
    assert repo.show(":app.yaml") == ours + theirs.removeprefix(base)


@pytest.mark.parametrize("key", ["\x03", "\x04", "q"])
@pytest.mark.costly
def test_stopped_in_the_middle(stopped: Repo, key: str) -> None:
    with Person(stopped) as it:
        it.question("spec.replicas")
        it.press("t")
        it.question("image")
        it.press(key)
        assert it.end() == 1
        assert it.is_normal()
    assert stopped.unmerged() == [*sorted(BASE)]
    text = stopped.text("app.yaml")
    assert "replicas: 3" in text and text.count("<<<<<<<") == 1
    with Person(stopped) as it:
        it.question("image")
        it.press("o")
        it.question("version")
        it.press("q")
        it.end()
    assert stopped.text("app.yaml") == deployment(3, "app:2", ("A=1", "OURS=1", "THEIRS=1"))
    assert "app.yaml" not in stopped.unmerged()


@pytest.mark.costly
def test_killed_in_the_middle(stopped: Repo) -> None:
    with Person(stopped) as it:
        it.question("spec.replicas")
        it.press("t")
        it.question("image")
        it.process.send_signal(signal.SIGKILL)
        assert it.end() == -signal.SIGKILL
    assert stopped.unmerged() == [*sorted(BASE)]
    with Person(stopped) as it:
        assert "1 already answered" in it.question("image")
        it.press("o")
        it.question("version")
        it.press("o")
        it.question("gone.yaml")
        it.press("o")
        assert it.end() == 0
    assert stopped.text("app.yaml") == deployment(3, "app:2", ("A=1", "OURS=1", "THEIRS=1"))
    assert stopped.unmerged() == ["note.txt"]
    assert not (stopped.path / "gone.yaml").exists()


# Right before its n-th step that changes anything it is killed: see `test_solve_killed`.
KILLED = killed(
    "import argparse\nfrom kmerge_git.cli.asking import ask\n"
    "from kmerge_git.git.repository import Repository\n"
    "from kmerge_git.whole.resolving import Resolving",
    "ask(Resolving.start(Repository.open()), argparse.Namespace(blame=False))",
)


@pytest.mark.kill
def test_killed_at_every_step(repo: Repo, tmp_path: Path) -> None:
    """No answer is lost that was heard, and nothing is staged that was not decided."""
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    repo.fork(*({"app.yaml": of["app.yaml"]} for of in (BASE, OURS, THEIRS)))
    decided = deployment(3, "app:2", ("A=1", "OURS=1", "THEIRS=1"))

    def answered(step: int) -> Done:
        return repo.world.python(script, str(step), cwd=repo.path, check=False, stdin="t\no\n")

    for step in kill_points():
        assert repo.merge().code == 1
        done = answered(step)
        (repo.path / ".git" / "index.lock").unlink(missing_ok=True)
        if repo.unmerged() == []:
            assert repo.show(":app.yaml") == decided == repo.text("app.yaml")
        if done.code == 0:
            break
        assert done.code == -signal.SIGKILL
        if step % 3 == 0 or not is_whole():
            before = repo.unmerged()
            again = repo.world.python(script, "0", cwd=repo.path, stdin="o\no\n")
            known = next((n for n in (2, 1) if f"{n} already answered" in again.out), 0)
            assert again.out.count("Which?") == (2 - known if before else 0)
            assert known >= done.out.count("Which?") - 1 or not before
            assert repo.unmerged() == []
        (repo.path / ".git" / "kmerge-answers").unlink(missing_ok=True)
        repo.git("merge", "--abort")
        assert repo.text("app.yaml") == OURS["app.yaml"]
    assert were_all_killed(done, step)
    assert steps(done) > 5


@pytest.mark.costly
def test_a_file_edited_meanwhile_is_left_alone_or_taken(stopped: Repo) -> None:
    with Person(stopped) as it:
        it.question("spec.replicas")
        it.press("d")
        assert (
            "cannot use this file: the answer still contains conflict markers; remove them"
            in it.wait(PROMPT)
        )
        stopped.write("app.yaml", "mine: 1\n")
        it.press("oo")
        it.question("image")
        assert "app.yaml was not written: the file was edited in the meantime" in it.question(
            "version"
        )
        assert stopped.text("app.yaml") == "mine: 1\n"
        it.press("k")
        it.question("image")
        it.press("d")
        it.question("version")
        it.press("q")
        assert it.end() == 1
        assert "staged  app.yaml\n" in it.rest()
    assert stopped.show(":app.yaml") == "mine: 1\n"
    assert stopped.text("app.yaml") == "mine: 1\n"


@pytest.mark.parametrize("key", ["q", "kill"])
@pytest.mark.costly
def test_an_index_that_is_held_for_a_while(stopped: Repo, key: str) -> None:
    """No file is written that could not be staged; the answers are kept."""
    lock = stopped.path / ".git" / "index.lock"
    before = stopped.text("app.yaml")
    decided = deployment(3, "app:2", ("A=1", "OURS=1", "THEIRS=1"))
    with Person(stopped) as it:
        it.question("spec.replicas")
        lock.touch()
        it.press("to")
        it.question("image")
        told = it.question("version")
        assert "app.yaml was not written: another git process holds" in told
        assert "app.yaml" in stopped.unmerged() and stopped.text("app.yaml") == before
        if key == "q":
            lock.unlink()
            it.press(key)
            assert it.end() == 1
    lock.unlink(missing_ok=True)
    if key == "kill":
        with Person(stopped) as it:
            assert "2 already answered" in it.question("version")
            it.press("q")
            assert it.end() == 1
    assert "app.yaml" not in stopped.unmerged()
    assert stopped.show(":app.yaml") == decided


@pytest.mark.costly
def test_a_conflict_that_ends_meanwhile(stopped: Repo) -> None:
    with Person(stopped) as it:
        it.question("spec.replicas")
        stopped.git("add", "app.yaml")  # with its markers, as people do
        it.press("to")
        it.question("image")
        told = it.question("version")
        assert "app.yaml was not written: this conflict was resolved by another command" in told
        it.press("q")
        assert it.end() == 1
        assert "open    app.yaml was not written" in it.rest()
    assert stopped.show(":app.yaml") == stopped.text("app.yaml")


@pytest.mark.costly
def test_short_markers_are_markers_where_the_file_has_such(repo: Repo) -> None:
    attributes = {".gitattributes": "app.yaml conflict-marker-size=5\n"}
    repo.fork(*({"app.yaml": of["app.yaml"]} | attributes for of in (BASE, OURS, THEIRS)))
    repo.merge()
    with Person(repo) as it:
        it.question("spec.replicas")
        repo.write("app.yaml", "mine: 1\n<<<<< ours\n=====\na: 2\n>>>>> theirs\n")
        it.press("d")
        assert "the answer still contains conflict markers; remove them" in it.wait(PROMPT)
        it.press("q")
        assert it.end() == 1
    assert "app.yaml" in repo.unmerged()


@pytest.mark.costly
def test_a_deletion_is_decided_twice(repo: Repo) -> None:
    chart = CHART.format
    repo.commit("base", {"a.yaml": chart(0), "b.yaml": chart(0)})
    repo.branch("side")
    repo.commit("theirs", {"a.yaml": chart(2), "b.yaml": chart(2)})
    repo.switch("main")
    (repo.path / "a.yaml").unlink()
    repo.commit("ours", {"b.yaml": chart(1)})
    repo.merge()
    with Person(repo) as it:
        it.question("1 of 2  a.yaml")
        it.press("o")
        it.question("2 of 2")
        it.press("k")
        it.question("1 of 2")
        it.press("o")
        assert "not written" not in it.question("2 of 2")
        it.press("o")
        assert it.end() == 0
    assert repo.unmerged() == [] and not (repo.path / "a.yaml").exists()


@pytest.mark.costly
def test_nothing_is_in_conflict(stopped: Repo) -> None:
    stopped.git("merge", "--abort")
    with Person(stopped) as it:
        assert it.end() == 0
        assert "kmerge: there are no conflicts\n" in it.rest()


@pytest.mark.costly
def test_two_at_once_lose_no_answer(stopped: Repo) -> None:
    with Person(stopped) as one, Person(stopped) as other:
        one.question("spec.replicas")
        other.question("spec.replicas")
        one.press("t")
        one.question("image")
        other.press("s")
        other.question("image")
        other.press("o")
        other.question("version")
        one.press("s")
        one.question("version")
        one.press("o")
        one.question("gone.yaml")
        for it in (one, other):
            it.process.kill()
    assert "chart/Chart.yaml" not in stopped.unmerged()
    with Person(stopped) as it:
        assert "2 already answered" in it.question("gone.yaml")
        it.press("q")
        it.end()
    assert stopped.show(":app.yaml") == deployment(3, "app:2", ("A=1", "OURS=1", "THEIRS=1"))


@pytest.mark.costly
def test_a_file_edited_before_is_nobodys_question(stopped: Repo) -> None:
    stopped.write("app.yaml", "mine: 1\n")
    with Person(stopped) as it:
        assert "2 conflicts in 2 files" in it.question("version")
        it.press("q")
        assert it.end() == 1
        assert "still in conflict (edited after the merge" in it.rest()
    assert stopped.text("app.yaml") == "mine: 1\n"


@pytest.mark.costly
def test_the_smallest_terminal(stopped: Repo) -> None:
    with Person(stopped) as it:
        it.resize(20, 40)
        for about in ("spec.replicas", "image", "version", "gone.yaml"):
            shown = it.question(about).splitlines()
            assert len(shown) <= 20
            it.press("s")
        assert it.end() == 1


@pytest.mark.costly
def test_only_some_paths(stopped: Repo) -> None:
    with Person(stopped, "chart") as it:
        it.question("1 of 1  chart/Chart.yaml")
        it.press("o")
        assert it.end() == 0
        assert "1 file staged, 3 files still in conflict\n" in it.rest()
        assert "still in conflict (not selected): app.yaml" in it.rest()


@pytest.mark.costly
def test_who_it_was(stopped: Repo) -> None:
    with Person(stopped, "--blame") as it:
        shown = it.question("spec.replicas")
        assert " Ada: ours\n" in shown and " Ada: theirs\n" in shown
        it.press("q")
        it.end()


@pytest.mark.costly
def test_names_of_others_drive_no_terminal(repo: Repo) -> None:
    name = "a\x1b]0;x\x07.yaml"
    repo.fork(*({name: CHART.format(f"{n}\u202e")} for n in range(3)))
    repo.merge()
    with Person(repo, NO_COLOR="1") as it:
        it.question("version")
        it.press("q")
        it.end()
        assert all(line.isprintable() for line in it.raw.split("\n"))


@pytest.mark.costly
def test_as_the_merge_tool_of_git(repo: Repo) -> None:
    repo.fork(*(dict.fromkeys(("a.yaml", "b.yaml"), of["app.yaml"]) for of in (BASE, OURS, THEIRS)))
    repo.kmerge("install", "--mergetool")
    repo.git("config", "merge.kmerge.driver", "false")
    repo.merge()
    command = ("git", "mergetool", "--tool=kmerge", "--no-prompt")
    with Person(repo, command=command) as it:
        it.question("a.yaml\nDeployment/web spec.replicas")
        it.press("o")
        it.question("image")
        it.press("t")
        it.wait("a.yaml: resolved and written")
        it.question("b.yaml\nDeployment/web spec.replicas")
        it.press("q")
        it.wait("b.yaml: 2 conflicts left")
        assert it.end() == 1
        assert "staged" not in it.seen and "not selected" not in it.seen
    assert repo.unmerged() == ["b.yaml"]
    assert repo.show(":a.yaml") == deployment(2, "app:10", ("A=1", "OURS=1", "THEIRS=1"))
