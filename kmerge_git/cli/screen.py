"""Where the questions are shown: it writes downwards, so a log of it reads as it was seen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from typing import TextIO

from kmerge_git.cli.colour import Paint
from kmerge_git.cli.excerpts import one_row, wrapped
from kmerge_git.cli.questions import Row, Size
from kmerge_git.visible import visible


class Screen:
    """Rows, sentences and prompts on a stream."""

    def __init__(self, stream: TextIO, colour: str = "auto") -> None:
        self._stream = stream
        self._paint = Paint(colour, stream)

    def room(self) -> Size:
        """The size of the terminal as it is now."""
        columns, rows = shutil.get_terminal_size()
        try:
            size = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            return Size(columns, rows)
        # a variable may be older than the window
        return Size(size.columns or columns, size.lines or rows)

    def rows(self, rows: Iterable[Row]) -> None:
        """Rows that fit as they are."""
        for row in rows:
            self._stream.write(self._paint.line(*row) + "\n")

    def say(self, text: str, colour: str = "") -> None:
        """A sentence, on as many rows as it needs."""
        columns = self.room().columns
        self.rows(((row, colour),) for row in wrapped(one_row(text), columns))
        self._stream.flush()

    def prompt(self, text: str) -> None:
        """What an answer stands behind."""
        self._stream.write(self._paint.line((text, "blue"), " "))
        self._stream.flush()

    def echo(self, text: str) -> None:
        """The answer, which a terminal with single keys does not show by itself."""
        self._stream.write(visible(text) + "\n")
        self._stream.flush()
