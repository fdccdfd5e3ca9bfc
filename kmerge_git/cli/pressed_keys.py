"""Read the keys that a person presses: single keys on a terminal, else whole lines.

A signal interrupts nothing: the program stops when it reads the next key. A second signal ends
the program at once. In any case the terminal gets its earlier settings back.
"""

from __future__ import annotations

import os
import select
import signal
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any, TextIO

AGAIN = "\f"  # Ctrl-L, or the program was continued: show the question again
RESIZED = "resized"
ESCAPE = "Esc"
ENTER = ""
_SETTLED = 0.15  # seconds without a change of size before the question is shown again
_SEQUENCE = 0.05  # seconds without a byte after which a key of several bytes is complete
_ENDINGS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
_LFLAGS, _CHARS = 3, 6  # indexes in the result of `tcgetattr`


class Keys:
    """Read keys from a terminal, or lines if stdin is not a terminal, inside a `with` block."""

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self.is_single = source.isatty() and os.environ.get("TERM") != "dumb"
        self._typed = b""
        self._is_at_end = False
        self._before: list[Any] | None = None  # the terminal's earlier settings
        self._handlers: dict[int, Any] = {}
        self._ended_by = 0
        self._is_back = self._is_resized = self._is_lent = False
        self._woken: tuple[int, int] | None = None
        self._waker = -1

    def __enter__(self) -> Keys:
        self._listen()
        self._take()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._give_back()
        self._stop_listening()
        if self.is_killed:
            _die_of(self._ended_by)

    @property
    def echoes(self) -> bool:
        """Return whether the terminal itself shows the typed keys."""
        return self._source.isatty() and not self.is_single

    @property
    def is_killed(self) -> bool:
        """Return whether a signal other than Ctrl-C asked the process to end."""
        return self._ended_by not in (0, signal.SIGINT)

    def read(self) -> str | None:
        """Return the next key, or the next line without outer blanks; return None at the end."""
        while not self._ended_by:
            if self._is_back:
                self._is_back = False
                return AGAIN
            word = self._key() if self.is_single else self._line()
            if word is not None:
                return None if word == "\x04" else word
            if self._is_at_end:
                return None
            if not self._fill(_SETTLED if self._is_resized else None) and self._is_resized:
                self._is_resized = False
                return RESIZED
        return None

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Let another program use the terminal and get the signals of keys such as Ctrl-C."""
        self._give_back()
        before = self._mode()
        # set a handler, because the other program would inherit an ignored signal
        numbers = (signal.SIGINT, signal.SIGQUIT)
        handlers = [(number, signal.signal(number, lambda *of: None)) for number in numbers]
        self._is_lent = True
        try:
            yield
        finally:
            self._is_lent = False
            for number, handler in handlers:
                signal.signal(number, handler)
            if before is not None and before != self._mode():  # the program crashed
                self._set(before)
            self._take()

    # -- typed keys

    def _key(self) -> str | None:
        if not self._typed:
            return None
        length = 1
        if self._typed[0] >= 0x80 or self._typed[:1] == b"\x1b":
            # an arrow, a pasted text or a message of the terminal: none of its bytes is an answer
            while not self._is_at_end and self._fill(_SEQUENCE):
                pass
            length = len(self._typed)
        key, self._typed = self._typed[:length], self._typed[length:]
        if key[:1] == b"\x1b":
            return ESCAPE
        return ENTER if key in (b"\r", b"\n") else key.decode("utf-8", "surrogateescape")

    def _line(self) -> str | None:
        line, end, rest = self._typed.partition(b"\n")
        if not end and not (line and self._is_at_end):
            return None
        self._typed = rest
        return line.decode("utf-8", "surrogateescape").strip()

    def _fill(self, seconds: float | None) -> bool:
        """Wait for a key or a signal; return False if neither came in time."""
        file = self._source.fileno()
        wake = self._woken[0] if self._woken else -1
        ready, _, _ = select.select([file, *([wake] if wake >= 0 else [])], [], [], seconds)
        if wake in ready:
            os.read(wake, 4096)
        if file in ready:
            try:
                data = os.read(file, 4096)
            except OSError:  # the terminal is gone
                data = b""
            self._is_at_end = not data
            self._typed += data
        return bool(ready)

    # -- the terminal

    def _take(self) -> None:
        """Set the terminal to single keys, and drop keys typed before the question was shown."""
        if not self.is_single:
            return
        file = self._source.fileno()
        with suppress(termios.error):
            self._before = termios.tcgetattr(file)
            mode = termios.tcgetattr(file)
            mode[_LFLAGS] &= ~(termios.ICANON | termios.ECHO)
            mode[_CHARS][termios.VMIN], mode[_CHARS][termios.VTIME] = 1, 0
            termios.tcsetattr(file, termios.TCSAFLUSH, mode)
            self._typed = b""

    def _give_back(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            self._set(before)

    def _mode(self) -> list[Any] | None:
        """Return the settings of the terminal, or None if stdin is not a terminal."""
        with suppress(termios.error, ValueError):
            return termios.tcgetattr(self._source.fileno())
        return None

    def _set(self, mode: list[Any]) -> None:
        with suppress(termios.error, ValueError):
            termios.tcsetattr(self._source.fileno(), termios.TCSADRAIN, mode)

    # -- signals

    def _listen(self) -> None:
        self._woken = os.pipe()
        for end in self._woken:
            os.set_blocking(end, False)
        try:
            self._waker = signal.set_wakeup_fd(self._woken[1], warn_on_full_buffer=False)
        except ValueError:  # signals can be handled only in the main thread
            return
        answers: dict[signal.Signals, Callable[[int, FrameType | None], None]] = {
            **dict.fromkeys(_ENDINGS, self._end),
            signal.SIGTSTP: self._stop_for_a_while,
            signal.SIGWINCH: self._resize,
        }
        for number, handler in answers.items():
            if signal.getsignal(number) != signal.SIG_IGN:  # `nohup` ignores SIGHUP
                self._handlers[number] = signal.signal(number, handler)

    def _stop_listening(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if self._woken:
            with suppress(ValueError):
                signal.set_wakeup_fd(self._waker)
            for end in self._woken:
                os.close(end)
            self._woken = None

    def _end(self, number: int, frame: FrameType | None) -> None:
        if not self._ended_by:
            self._ended_by = number
            return
        self._give_back()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        _die_of(number)

    def _stop_for_a_while(self, number: int, frame: FrameType | None) -> None:
        was_taken = self._before is not None
        self._give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        # from here on the process is in the foreground again
        signal.signal(number, self._stop_for_a_while)
        if was_taken:
            self._take()
        self._is_back = not self._is_lent

    def _resize(self, number: int, frame: FrameType | None) -> None:
        self._is_resized = True


def _die_of(number: int) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
