"""Colours on a terminal: six ANSI codes, switched by NO_COLOR, FORCE_COLOR and `--color`."""

from __future__ import annotations

import argparse
import os
from typing import TextIO

from kmerge_git.visible import visible

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34"}


def add_color(parser: argparse.ArgumentParser, text: str) -> None:
    """Define `--color`."""
    choices = ("auto", "always", "never")
    parser.add_argument("--color", choices=choices, default="auto", help=text)


class Paint:
    """Paints text for one stream where that has colours and a colour is named."""

    def __init__(self, choice: str, stream: TextIO) -> None:
        self.is_on = wants_colour(choice, stream)

    def __call__(self, text: str, colour: str) -> str:
        shown = visible(text)
        return f"\x1b[{_CODES[colour]}m{shown}\x1b[0m" if self.is_on and colour else shown

    def line(self, *parts: str | tuple[str, str]) -> str:
        """A line of texts, some of them with a colour; nothing of theirs reaches the terminal."""
        return "".join(visible(p) if isinstance(p, str) else self(*p) for p in parts)


def wants_colour(choice: str, stream: TextIO) -> bool:
    """What the flag says, else the environment, else whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
