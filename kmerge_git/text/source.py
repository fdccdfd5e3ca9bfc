"""Decode bytes to text and encode text to bytes; keep byte order mark and line ends.

Inside the program, every text is a `str` with `\\n` line ends and a final newline. Offsets count
characters. A `Source` remembers the byte order mark and the line ends that decoding removed, and
`encode` restores them exactly.
"""

from __future__ import annotations

from kmerge_git.errors import CannotParse, KmergeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    E = TypeVar("E", bound=KmergeError)

BOM = b"\xef\xbb\xbf"
LONGEST_LINE = 8 << 20  # no person writes longer lines, and libyaml is slow on them


class Source:
    """Hold the text of a file, its byte order mark and its line ends."""

    __slots__ = ("_counted", "bom", "data", "eol", "final_newline", "path", "text")

    def __init__(self, data: bytes, path: str = "") -> None:
        self.data = data
        self.path = path
        self.bom = data.startswith(BOM)
        text = _decode(data[3:] if self.bom else data, path)
        self.eol = "\n"  # or `\r\n`, or empty if the line ends are mixed
        if "\r" in text:
            is_crlf = text.count("\r") == text.count("\r\n") == text.count("\n")
            self.eol = "\r\n" if is_crlf else ""
            text = text.replace("\r\n", "\n") if is_crlf else text
        if text.endswith("\r"):
            raise CannotParse(
                "the file ends with a lone carriage return", path=path, hint="remove it"
            )
        self.final_newline = not text or text.endswith("\n")
        self.text = text if self.final_newline else text + "\n"
        self._counted = 0, 0  # an offset, and the number of lines that end before the offset

    @classmethod
    def of(cls, text: str, path: str = "") -> Source:
        """Return a source for a text that does not come from bytes."""
        source = cls(b"", path)
        source.text = text
        return source

    def encode(self, text: str) -> bytes:
        """Return the bytes of a text with the byte order mark and the line ends of this file."""
        return encode(text, self.bom, self.eol, self.final_newline)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset, both counted from 1."""
        start = self.text.rfind("\n", 0, offset) + 1
        at, lines = self._counted
        if at > offset:
            at, lines = 0, 0
        lines += self.text.count("\n", at, offset)
        self._counted = offset, lines  # callers ask for thousands of rising offsets
        return lines + 1, offset - start + 1

    def line_at(self, offset: int) -> str:
        """Return the line that holds an offset, without the line end."""
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        return self.text[start : end if end >= 0 else len(self.text)][:200]

    def error(self, why: str, offset: int, hint: str = "") -> CannotParse:
        """Return an error that points at an offset."""
        return self.place(CannotParse(why, hint=hint), offset)

    def place(self, error: E, offset: int) -> E:
        """Let an error point at an offset."""
        error.path = self.path
        error.line, error.column = self.position(offset)
        error.excerpt = self.line_at(offset)
        return error


def encode(text: str, bom: bool, eol: str, final_newline: bool) -> bytes:
    """Return the bytes of a text; `eol` is `\\r\\n`, `\\n`, or empty for mixed line ends."""
    if not final_newline and text.endswith("\n"):
        text = text[:-1]
        if not eol and text.endswith("\r"):
            text = text[:-1]
    if eol == "\r\n":
        text = text.replace("\n", "\r\n")
    return (BOM if bom else b"") + text.encode("utf-8")


def _decode(data: bytes, path: str) -> str:
    if b"\0" in data:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise CannotParse("the file is UTF-16", path=path, hint="convert it to UTF-8")
        line, column = _byte_position(data, data.index(b"\0"))
        raise CannotParse(
            "the file is binary: it contains a NUL byte",
            path=path,
            line=line,
            column=column,
            hint="kmerge can read only text files",
        )
    if len(data) > LONGEST_LINE and max(map(len, data.split(b"\n"))) > LONGEST_LINE:
        raise CannotParse(
            f"a line is longer than {LONGEST_LINE >> 20} MiB",
            path=path,
            hint="split the line, or use git's line merge",
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = _byte_position(data, error.start)
        raise CannotParse(
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            path=path,
            line=line,
            column=column,
            hint="convert the file to UTF-8",
        ) from None


def _byte_position(data: bytes, offset: int) -> tuple[int, int]:
    start = data.rfind(b"\n", 0, offset) + 1
    return data.count(b"\n", 0, offset) + 1, offset - start + 1
