"""Colours on a terminal: six ANSI codes, switched by NO_COLOR, FORCE_COLOR and `--color`."""

from __future__ import annotations

import argparse
import os
from typing import TextIO

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
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self.is_on and colour else text


def wants_colour(choice: str, stream: TextIO) -> bool:
    """What the flag says, else the environment, else whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
