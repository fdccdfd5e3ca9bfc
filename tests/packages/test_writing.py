"""Files exchanged as one: whenever the process dies, each has its old or its new bytes."""

import builtins
import errno
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kmerge_git.errors import UsageError
from kmerge_git.packages.exchanged_files import (
    SAVED,
    UNDERWAY,
    begin,
    carry_out,
    check_whole,
    forget,
    roll_back,
    settle,
    taken_back,
    unfinished,
    write_all,
)
from kmerge_git.packages.package_files import File, read

CALLS = ("mkdir", "rmdir", "link", "symlink", "unlink", "remove", "replace", "rename", "open")
CALLS += ("chmod", "fsync", "truncate", "makedirs")


def file(text: str, mode: int = 0o644) -> File:
    return File(text.encode(), mode)


def link(target: str) -> File:
    return File(target.encode(), link=True)


OLD = {
    "changed": file("old"),
    "deep/er/gone": file("gone"),
    "executable": file("tool"),
    "folder/a": file("a"),
    "folder/in/b": file("b"),
    "file": file("a file"),
    "link": link("changed"),
    "linked": file("linked"),
    "renamed/old": file("same"),
    "stays/here": file("stays"),
}
CHANGES = {
    "added/new": file("new"),
    "changed": file("new", 0o600),
    "deep/er/gone": None,
    "executable": file("tool", 0o755),
    "folder": file("was a folder"),
    "folder/a": None,
    "folder/in/b": None,
    "file": None,
    "file/in/it": file("was a file"),
    "link": link("added/new"),
    "linked": link("changed"),
    "new-link": link("added"),
    "renamed/new": file("same"),
    "renamed/old": None,
}
NEW = {path: file for path, file in (OLD | CHANGES).items() if file is not None}


def make(root: Path, package: dict[str, File] = OLD) -> str:
    for path, content in package.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if content.link:
            target.symlink_to(os.fsdecode(content.data))
        else:
            target.write_bytes(content.data)
            target.chmod(content.mode)
    return str(root)


def is_old_or_new(root: str, old=OLD, changes=CHANGES) -> bool:
    found = read(root)
    new = {path: file for path, file in (old | changes).items() if file is not None}
    return all(found.get(p) in (old.get(p), new.get(p)) for p in {*old, *new, *found})


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    """A kill loses nothing that was written; only a power cut would."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


class Killed(BaseException):
    """No handler of the program's sees it: after it, nothing is done any more."""


class Calls:
    """Counts the calls that change files; at one of them something happens."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int, happens) -> None:
        self.count, self.at, self.happens = 0, at, happens
        for name in CALLS:
            self._watch(patch, os, name)
        self._watch(patch, builtins, "open")

    def _watch(self, patch, module, name):
        call = getattr(module, name)

        def watched(*args, **kwargs):
            is_read = name == "open" and module is builtins and args[1:2] == ("rb",)
            if is_read:
                return call(*args, **kwargs)
            self.count += 1
            return self.happens(self, lambda: call(*args, **kwargs))

        patch.setattr(module, name, watched)


def dies_before(calls: Calls, call):
    if calls.count >= calls.at:
        raise Killed
    return call()


def dies_after(calls: Calls, call):
    if calls.count > calls.at:
        raise Killed
    made = call()
    if calls.count == calls.at:
        if isinstance(made, int):
            os.close(made)
        elif made is not None:
            made.close()  # and empty
        raise Killed
    return made


def fails_once(calls: Calls, call):
    if calls.count == calls.at:
        raise OSError(errno.EIO, "Input/output error")
    return call()


def fails_from_then(calls: Calls, call):
    if calls.count >= calls.at:
        raise OSError(errno.ENOSPC, "No space left on device")
    return call()


def goes_on(calls: Calls, call):
    return call()


def disturbed(happens, at: int, what, *args) -> BaseException | None:
    """What ended a call that was disturbed, if anything did."""
    with pytest.MonkeyPatch.context() as patch:
        Calls(patch, at, happens)
        try:
            what(*args)
        except (Killed, UsageError) as error:
            return error
    return None


def length(root: Path, what, *args) -> int:
    """How many calls there are to disturb."""
    with pytest.MonkeyPatch.context() as patch:
        calls = Calls(patch, 0, goes_on)
        what(*args)
    return calls.count


@pytest.mark.parametrize("dies", [dies_before, dies_after])
@pytest.mark.costly
def test_a_kill_at_any_point_of_writing(tmp_path, dies):
    total = length(tmp_path, write_all, make(tmp_path / "0"), CHANGES)
    assert total > 80
    ends = []
    for at in range(1, total + 1):
        root = make(tmp_path / str(at))
        assert isinstance(disturbed(dies, at, write_all, root, CHANGES), Killed)
        assert is_old_or_new(root), at
        settle(root)
        found = read(root)
        assert found in (OLD, NEW), at
        assert not {UNDERWAY, SAVED} & {*os.listdir(root)}
        assert settle(root) == ""
        assert read(root) == found
        ends.append(found == NEW)
    assert ends == sorted(ends)  # from the journal on it is finished, before it nothing happened
    assert True in ends and False in ends


@pytest.mark.costly
def test_a_kill_while_a_kill_is_settled(tmp_path):
    old = {"a": file("a"), "d/x": file("x"), "f": file("f")}
    changes = {"a": file("b"), "d": file("d"), "d/x": None, "f": None, "f/g": file("g")}
    new = {"a": file("b"), "d": file("d"), "f/g": file("g")}
    total = length(tmp_path, write_all, make(tmp_path / "0", old), changes)
    for first in range(1, total + 1):
        for second in range(first % 3 + 1, 40, 3):
            root = make(tmp_path / f"{first}-{second}", old)
            disturbed(dies_before, first, write_all, root, changes)
            done = disturbed(dies_after, second, settle, root) is None
            assert is_old_or_new(root, old, changes), (first, second)
            settle(root)
            assert read(root) in (old, new), (first, second)
            if done:
                break


@pytest.mark.parametrize("dies", [dies_before, dies_after])
@pytest.mark.costly
def test_a_kill_at_any_point_is_undone(tmp_path, dies):
    root = make(tmp_path / "0")
    begin(root, CHANGES, {"to": "2"})
    total = length(tmp_path, carry_out, root)
    back = length(tmp_path, roll_back, root)
    assert total > 20 < back
    for at in range(1, total + 2):
        root = make(tmp_path / str(at))
        begin(root, CHANGES, {"to": "2"})
        assert read(root) == OLD
        disturbed(dies, at, carry_out, root)
        for again in (at, back + 1 - at, 100):
            disturbed(dies, again, roll_back, root)
            assert is_old_or_new(root), (at, again)
        assert read(root) == OLD
        forget(root)
        assert sorted(os.listdir(root)) == sorted({path.split("/")[0] for path in OLD})


@pytest.mark.parametrize("dies", [dies_before, dies_after])
def test_a_kill_at_any_point_is_finished(tmp_path, dies):
    root = make(tmp_path / "0")
    begin(root, CHANGES, {"to": "2"})
    for at in range(1, length(tmp_path, carry_out, root) + 1):
        root = make(tmp_path / str(at))
        begin(root, CHANGES, {"to": "2"})
        disturbed(dies, at, carry_out, root)
        assert carry_out(root) == []
        assert read(root) == NEW
        found = unfinished(root)
        assert found and found.about == {"to": "2"} and found.is_carried_out


@pytest.mark.parametrize("dies", [dies_before, dies_after])
@pytest.mark.costly
def test_a_kill_while_an_update_is_forgotten(tmp_path, dies):
    """It is an update that is done or undone, or none at all, until it is away."""
    for undone in (False, True):
        root = make(tmp_path / f"0-{undone}")
        begin(root, CHANGES, {"to": "2"})
        carry_out(root)
        for at in range(1, 60):
            root = make(tmp_path / f"{at}-{undone}")
            begin(root, CHANGES, {"to": "2"})
            carry_out(root)
            if undone:
                roll_back(root)
            done = disturbed(dies, at, forget, root) is None
            found = unfinished(root)
            if found and found.is_begun:
                assert found.is_carried_out and found.is_going_back == undone
            forget(root)
            assert read(root) == (OLD if undone else NEW)
            assert UNDERWAY not in os.listdir(root)
            if done:
                break
        assert done


def test_without_its_journal_it_is_no_update(tmp_path, monkeypatch):
    root = make(tmp_path)
    begin(root, CHANGES, {"to": "2"})
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda path: None)
        forget(root)
    found = unfinished(root)
    assert found and not found.is_begun
    begin(root, CHANGES, {"to": "3"})  # what lies there is nobody's
    found = unfinished(root)
    assert found and found.about == {"to": "3"}


@pytest.mark.costly
def test_what_was_being_undone_is_undone(tmp_path):
    root = make(tmp_path / "0")
    begin(root, CHANGES, {})
    carry_out(root)
    for at in range(1, length(tmp_path, roll_back, root) + 1):
        root = make(tmp_path / str(at))
        begin(root, CHANGES, {})
        carry_out(root)
        disturbed(dies_after, at, roll_back, root)
        found = unfinished(root)
        said = settle(root)
        assert read(root) == (OLD if found and found.is_going_back else NEW)
        assert ("undid" if found and found.is_going_back else "finished") in said


def test_what_is_half_written_is_not_to_be_read(tmp_path):
    root = make(tmp_path)
    check_whole(root)
    begin(root, CHANGES, {"to": "2"})
    with pytest.raises(UsageError, match="half written"):
        check_whole(root)
    carry_out(root)
    check_whole(root)
    roll_back(root)
    with pytest.raises(UsageError, match="half written"):
        check_whole(root)
    forget(root)
    (tmp_path / UNDERWAY).mkdir()  # no file was touched yet
    check_whole(root)


@pytest.mark.costly
def test_an_error_at_any_point_leaves_all_as_it_was(tmp_path):
    total = length(tmp_path, write_all, make(tmp_path / "0"), CHANGES)
    failed = 0
    for at in range(1, total + 1):
        root = make(tmp_path / str(at))
        error = disturbed(fails_once, at, write_all, root, CHANGES)
        if error is None:
            assert read(root) == NEW, at  # there was another way
        elif UNDERWAY in os.listdir(root):
            assert read(root) == NEW, at  # only to take the journal away was refused
            assert str(error).endswith(f"{UNDERWAY}: cannot write: Input/output error")
            settle(root)
        else:
            failed += 1
            assert "Input/output error" in str(error)
            assert read(root) == OLD, at
        assert UNDERWAY not in os.listdir(root)
    assert failed > total / 2


@pytest.mark.costly
def test_nothing_can_be_written_any_more_from_any_point_on(tmp_path):
    total = length(tmp_path, write_all, make(tmp_path / "0"), CHANGES)
    for at in range(1, total + 1):
        root = make(tmp_path / str(at))
        error = disturbed(fails_from_then, at, write_all, root, CHANGES)
        assert error is None or "No space left" in str(error)
        assert is_old_or_new(root), at
        settle(root)
        assert read(root) in (OLD, NEW), at


def test_a_new_directory_goes_again_if_it_cannot_be_filled(tmp_path):
    root = str(tmp_path / "a" / "b")
    with pytest.raises(UsageError):
        write_all(root, {"x": file("1"), "x/y": file("2")})
    assert os.listdir(tmp_path) == []
    write_all(root, {"x": file("1")})
    assert read(root) == {"x": file("1")}


def test_no_change_touches_nothing(tmp_path):
    root = make(tmp_path)
    before = os.stat(root).st_mtime_ns
    assert write_all(root, {}) == []
    assert os.stat(root).st_mtime_ns == before


@pytest.mark.parametrize(
    "old, new, now, expected",
    [
        (file("a"), file("b"), file("b"), "rest"),
        (file("a"), file("b"), file("a"), "back"),
        (file("a"), file("b"), file("c"), "rest"),
        (file("a"), file("a", 0o755), file("a", 0o755), "rest"),
        (file("a"), file("a", 0o755), file("a"), "back"),
        (file("a"), file("b"), file("a", 0o755), "rest"),
        (file("a"), file("b"), file("a", 0o600), "back"),
        (file("a"), file("a", 0o600), file("a"), ""),  # to git it is the same file
        (file("a"), link("a"), file("a"), "back"),
        (None, file("a"), None, ""),
    ],
)
def test_which_changes_were_taken_back(tmp_path, old, new, now, expected):
    root = make(tmp_path, {"f": old} if old else {})
    begin(root, {"f": new}, {"what": "update"})
    carry_out(root)
    (tmp_path / "f").unlink()
    make(tmp_path, {"f": now} if now else {})
    back, rest = taken_back(root)
    assert (back, rest) == (["f"] * (expected == "back"), ["f"] * (expected == "rest"))


def test_folders_come_back_as_they_were(tmp_path):
    root = make(tmp_path, {"d/x": file("x"), "e/y": file("y")})
    (tmp_path / "d").chmod(0o750)
    (tmp_path / "d" / "empty").mkdir()
    (tmp_path / "own").mkdir()
    begin(root, {"d": file("d"), "d/x": None, "own/z": file("z"), "made/z": file("z")}, {"a": "b"})
    assert carry_out(root) == []
    assert (tmp_path / "d").read_text() == "d"
    assert roll_back(root) == []
    forget(root)
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o750
    assert sorted(os.listdir(root)) == ["d", "e", "own"]
    assert sorted(os.listdir(tmp_path / "d")) == ["empty", "x"]


def test_a_folder_that_others_need_keeps_its_permissions(tmp_path):
    root = make(tmp_path, {"d/old": file("x")})
    (tmp_path / "d").chmod(0o700)
    write_all(root, {"d/old": None, "d/new": file("x")})
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o700


# --- somebody else at the same files


def killed_in(root: str, at: int, changes=CHANGES) -> None:
    begin(root, changes, {})
    disturbed(dies_before, at, carry_out, root)


def test_a_file_edited_after_a_kill_is_left_alone_and_told(tmp_path):
    root = make(tmp_path)
    killed_in(root, 1)
    (tmp_path / "changed").write_text("mine")
    (tmp_path / "renamed" / "old").write_text("mine")
    said = settle(root)
    assert said == (
        f"{root}: finished the changes of a run that was killed; "
        f"changed meanwhile and not overwritten: changed, renamed/old (see {SAVED})"
    )
    mine = {"changed": file("mine"), "renamed/old": file("mine")}
    assert read(root) == NEW | mine
    assert os.listdir(tmp_path / SAVED) == ["changed.new"]  # and nothing is lost
    assert (tmp_path / SAVED / "changed.new").read_text() == "new"


def test_what_is_not_put_back_is_kept(tmp_path):
    root = make(tmp_path)
    begin(root, CHANGES, {"a": "b"})
    carry_out(root)
    for name in ("changed", "linked"):
        (tmp_path / name).unlink()
        (tmp_path / name).write_text("mine")
    (tmp_path / "added" / "new").write_text("mine")
    assert roll_back(root, give_up=["linked"]) == ["added/new", "changed"]
    forget(root)
    assert read(root) == OLD | {"added/new": file("mine"), "changed": file("mine")}
    assert (tmp_path / SAVED / "changed.old").read_text() == "old"
    begin(root, {"changed": file("2")}, {"a": "b"})
    (tmp_path / "changed").write_text("mine again")
    assert roll_back(root) == ["changed"]
    kept = {path.name: path.read_text() for path in (tmp_path / SAVED).iterdir()}
    assert kept == {"changed.old": "old"}  # nothing was put over what was there in between


def test_what_is_kept_replaces_nothing(tmp_path):
    root = make(tmp_path, {"d/x": file("old")})
    for number in range(3):
        begin(root, {"d/x": file(f"new {number}")}, {})
        (tmp_path / "d" / "x").write_text(f"mine {number}")
        settle(root)
    kept = {path.name: path.read_text() for path in (tmp_path / SAVED / "d").iterdir()}
    assert kept == {"x.new": "new 0", "x.new.2": "new 1", "x.new.3": "new 2"}


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    root = make(tmp_path)
    killed_in(root, 1)
    (tmp_path / "folder" / "own").write_text("mine")
    assert "and not overwritten: folder " in settle(root)
    kept = {path: content for path, content in NEW.items() if path != "folder"}
    assert read(root) == kept | {"folder/own": file("mine")}
    assert (tmp_path / SAVED / "folder.new").read_text() == "was a folder"


def test_another_command_is_kept_out(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    root = make(tmp_path)
    write_all(root, {"changed": OLD["changed"]})  # a lock ends with what it was for
    handle = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (tmp_path / UNDERWAY).mkdir()  # of that command, which is not dead
        for attempt in (lambda: write_all(root, CHANGES), lambda: settle(root)):
            with pytest.raises(UsageError, match="another kmerge process uses this directory"):
                attempt()
        assert os.listdir(tmp_path / UNDERWAY) == []
    finally:
        os.close(handle)
    assert settle(root) == f"{root}: removed {UNDERWAY} of a run that was killed"
    assert read(root) == OLD


def test_without_locks_a_folder_that_is_there_is_still_seen(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)  # some systems have none
    root = make(tmp_path)
    begin(root, CHANGES, {})
    with pytest.raises(UsageError, match="unfinished"):
        write_all(root, CHANGES)
    assert "finished the changes" in settle(root)
    assert read(root) == NEW


def test_what_changed_since_it_was_read_is_not_overwritten(tmp_path):
    root = make(tmp_path)
    (tmp_path / "changed").write_text("in the meantime")
    with pytest.raises(UsageError, match="changed: somebody changed the file; run kmerge again"):
        write_all(root, CHANGES, OLD)
    assert read(root) == OLD | {"changed": file("in the meantime")}
    assert UNDERWAY not in os.listdir(root)
    (tmp_path / "changed").write_text("old")
    write_all(root, CHANGES, OLD)
    assert read(root) == NEW


def test_an_update_of_somebody_else_is_not_settled(tmp_path):
    root = make(tmp_path)
    begin(root, CHANGES, {"commit": "1"})
    for attempt in (
        lambda: settle(root),
        lambda: write_all(root, CHANGES),
        lambda: begin(root, {}, {}),
    ):
        with pytest.raises(UsageError, match="unfinished"):
            attempt()
    assert read(root) == OLD
    found = unfinished(root)
    assert found and found.about == {"commit": "1"} and set(found.paths) == set(CHANGES)
    assert (found.is_begun, found.is_carried_out, found.is_going_back) == (True, False, False)
    roll_back(root)
    found = unfinished(root)
    assert found and found.is_going_back
    with pytest.raises(UsageError, match="begun to undo"):
        carry_out(root)
    forget(root)
    assert unfinished(root) is None
    with pytest.raises(UsageError, match="there is no unfinished update"):
        carry_out(root)
    assert roll_back(root) == []


# --- systems that cannot do everything


@pytest.mark.costly
def test_a_rename_that_cannot_reach_the_target(tmp_path, monkeypatch):
    replace = os.replace

    def never_far(source, target):
        if UNDERWAY in str(source):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        replace(source, target)

    monkeypatch.setattr(os, "replace", never_far)
    root = make(tmp_path / "0")
    begin(root, CHANGES, {"a": "b"})
    assert carry_out(root) == []
    assert read(root) == NEW
    assert roll_back(root) == []
    forget(root)
    assert read(root) == OLD
    total = length(tmp_path, write_all, make(tmp_path / "1"), CHANGES)
    for at in range(1, total + 1):
        root = make(tmp_path / f"2-{at}")
        disturbed(dies_after, at, write_all, root, CHANGES)
        settle(root)
        assert read(root) in (OLD, NEW), at
        root = make(tmp_path / f"3-{at}")
        begin(root, CHANGES, {"a": "b"})
        disturbed(dies_after, at, carry_out, root)
        roll_back(root)
        forget(root)
        assert read(root) == OLD, at


def test_a_file_system_without_hard_links(tmp_path, monkeypatch):
    def refused(*args, **kwargs):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    root = make(tmp_path)
    begin(root, CHANGES, {"a": "b"})
    carry_out(root)
    assert read(root) == NEW
    roll_back(root)
    forget(root)
    assert read(root) == OLD


def test_a_directory_that_cannot_be_written(tmp_path, monkeypatch):
    root = make(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("renamed"))
    with pytest.raises(UsageError, match="renamed/new: cannot write: Permission denied"):
        write_all(root, CHANGES)
    assert read(root) == OLD


def test_a_full_disk_is_one_line_and_changes_nothing(tmp_path, monkeypatch):
    root = make(tmp_path)

    def full(handle):
        if stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=f"{UNDERWAY}: cannot write: No space left on device"):
        write_all(root, CHANGES)
    assert read(root) == OLD
    assert UNDERWAY not in os.listdir(root)


# --- where nothing may be written


REFUSED = {
    "a path out": ({"../x": file("1")}, "not a valid relative path"),
    "an absolute path": ({"/x": file("1")}, "not a valid relative path"),
    "git's folder": ({".git/hooks/x": file("1")}, "git reads as"),
    "our folder": ({f"{UNDERWAY}/journal": file("1")}, "kmerge uses"),
    "through a link": ({"link/x": file("1")}, "link is a link"),
    "through a link, a deletion": ({"link/x": None}, "link is a link"),
    "through a file": ({"file/x": file("1")}, "file is a file"),
    "over a folder with files": ({"folder": file("1")}, "it still contains folder/a"),
    "over a folder, others go": (
        {"folder": file("1"), "folder/a": None, "folder/in/b": file("2")},
        "it still contains folder/in/b",
    ),
    "over a device": ({"pipe": file("1")}, "neither a file nor a directory"),
    "a file that is a folder as well": (
        {"n": file("1"), "n/n": file("2")},
        "a file and a directory",
    ),
}


@pytest.mark.parametrize("changes, why", REFUSED.values(), ids=REFUSED)
def test_refused_before_anything_is_written(tmp_path, changes, why):
    root = make(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    names = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match=why):
        write_all(root, {"changed": file("new"), **changes})
    assert sorted(tmp_path.rglob("*")) == names
    assert (tmp_path / "changed").read_text() == "old"


def journal(path: str = "changed") -> dict:
    new = {"kind": "file", "checksum": "0", "mode": 420}
    exchange = {"path": path, "number": 0, "old": None, "new": new}
    return {
        "version": 1,
        "about": {},
        "token": "00",
        "folders": {},
        "exchanges": [exchange],
    }


BAD_JOURNALS = {
    "cut off": "{",
    "empty": "",
    "a list": "[]",
    "a path out": journal("../x"),
    "an absolute path": journal("/x"),
    "git's folder": journal(".git/config"),
    "a number that is a path": journal() | {"exchanges": [{"path": "x", "number": "../x"}]},
    "a token that is a path": journal() | {"token": "../x"},
    "a folder outside": journal() | {"folders": {"../x": 448}},
    "another version": journal() | {"version": 2},
    "a text for the changes": journal() | {"exchanges": "x"},
}


@pytest.mark.parametrize("text", BAD_JOURNALS.values(), ids=BAD_JOURNALS)
def test_a_journal_of_somebody_else(tmp_path, text):
    root = make(tmp_path)
    (tmp_path / UNDERWAY).mkdir()
    path = tmp_path / UNDERWAY / "journal"
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    for attempt in (settle, unfinished, carry_out, roll_back):
        with pytest.raises(UsageError, match=UNDERWAY):
            attempt(root)
    assert read(root) == OLD


def test_a_journal_without_its_files(tmp_path):
    root = make(tmp_path)
    (tmp_path / UNDERWAY).mkdir()
    (tmp_path / UNDERWAY / "journal").write_text(json.dumps(journal("fresh")))
    for name in ("not-done", "not-back"):
        (tmp_path / UNDERWAY / name).touch()
    assert "and not overwritten: fresh" in settle(root)
    assert read(root) == OLD


@pytest.mark.parametrize("name", ["", "new", "old", "journal"])
def test_links_are_no_folder_of_ours(tmp_path, name):
    root = make(tmp_path / "root")
    outside = tmp_path / "outside"
    (outside / "new").mkdir(parents=True)
    (outside / "journal").write_text(json.dumps(journal()))
    place = tmp_path / "root" / UNDERWAY
    if name:
        place.mkdir()
    (place / name if name else place).symlink_to(outside / name)
    names = sorted(outside.rglob("*"))
    for attempt in (settle, forget):
        with pytest.raises(UsageError, match="kmerge did not create this"):
            attempt(root)
    assert sorted(outside.rglob("*")) == names


def test_a_file_of_the_name_is_the_users(tmp_path):
    (tmp_path / UNDERWAY).write_text("mine")
    with pytest.raises(UsageError, match="kmerge did not create this"):
        settle(str(tmp_path))
    assert (tmp_path / UNDERWAY).read_text() == "mine"


def test_a_link_that_becomes_a_folder(tmp_path):
    """What lies behind the link is not what stood there."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "y").write_text("outside")
    root = make(tmp_path / "root", {"x": link("../outside")})
    begin(root, {"x": None, "x/y": file("1")}, {"a": "b"}, {"x": link("../outside")})
    assert carry_out(root) == []
    assert read(root) == {"x/y": file("1")}
    assert roll_back(root) == []
    assert read(root) == {"x": link("../outside")}
    assert (tmp_path / "outside" / "y").read_text() == "outside"
    assert (tmp_path / "outside" / "y").stat().st_nlink == 1


def test_a_parent_that_becomes_a_link_is_not_followed(tmp_path):
    root = make(tmp_path / "root")
    (tmp_path / "outside").mkdir()
    begin(root, {"added/new": file("new")}, {})
    (tmp_path / "root" / "added").symlink_to(tmp_path / "outside")
    assert "and not overwritten: added/new" in settle(root)
    assert os.listdir(tmp_path / "outside") == []


def test_names_of_odd_bytes(tmp_path):
    root = str(tmp_path)
    odd = {os.fsdecode(b"a\xff\n\x1b"): file("1"), "b\u202e/c": link("b\u202e")}
    write_all(root, odd)
    assert read(root) == odd
    begin(root, dict.fromkeys(odd), {"by": os.fsdecode(b"\xff")})
    assert carry_out(root) == []
    assert read(root) == {}
    found = unfinished(root)
    assert found and found.about == {"by": os.fsdecode(b"\xff")}
    roll_back(root)
    assert read(root) == odd


def test_the_root_may_be_a_link(tmp_path):
    make(tmp_path / "real")
    (tmp_path / "root").symlink_to("real")
    write_all(str(tmp_path / "root"), CHANGES, OLD)
    assert read(str(tmp_path / "real")) == NEW
    assert (tmp_path / "root").is_symlink()


def test_what_lies_underway_is_not_for_others_to_read_or_apply(tmp_path):
    root = make(tmp_path)
    begin(root, CHANGES, {"a": "b"})
    folder = tmp_path / UNDERWAY
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not [path for path in folder.rglob("*") if path.suffix]
    subprocess.run(["git", "init", "-q", root], check=True)
    argv = ["git", "-C", root, "status", "--porcelain", "--untracked-files=all"]
    assert UNDERWAY not in subprocess.run(argv, check=True, capture_output=True, text=True).stdout
