"""The bar: on a terminal only, with rate and remaining time."""

from __future__ import annotations

import io

import pytest

from kmerge_git.cli.in_and_out import Progress, bar, wants_colour


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_picture() -> None:
    assert bar(0, 10, "merges", 0) == "[..............................]   0% 0/10 merges"
    assert bar(5, 10, "merges", 2.0) == (
        "[###############...............]  50% 5/10 merges, 2/s, 0:02 left"
    )
    assert bar(10, 10, "files", 1.0).startswith("[##############################] 100% 10/10")
    assert bar(1, 10_000, "files", 1.0).endswith("1/s, 2:46:39 left")
    assert bar(0, 0, "files", 0.0).startswith("[####")


def test_only_on_a_terminal_and_gone_afterwards() -> None:
    pipe, terminal = io.StringIO(), Terminal()
    for stream in (pipe, terminal):
        progress = Progress(2, "files", stream)
        progress.update(1)
        progress.update(2)
        progress.close()
    assert pipe.getvalue() == ""
    assert "2/2 files" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_no_more_than_ten_pictures_a_second() -> None:
    terminal, now = Terminal(), [0.0]
    progress = Progress(1000, "files", terminal, clock=lambda: now[0])
    for done in range(1, 1000):
        now[0] = done / 1000
        progress.update(done)
    assert 8 <= terminal.getvalue().count("\r") <= 11


@pytest.mark.parametrize(
    "choice, environment, is_terminal, wanted",
    [
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
    ],
)
def test_colour(
    monkeypatch: pytest.MonkeyPatch,
    choice: str,
    environment: dict[str, str],
    is_terminal: bool,
    wanted: bool,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = Terminal() if is_terminal else io.StringIO()
    assert wants_colour(choice, stream) == wanted
