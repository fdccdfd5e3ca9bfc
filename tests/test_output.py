"""Nothing is printed that has not gone through `visible`: no command can forget it.

Commands print with `tell`, `say`, `warn`, `show` and `Paint.line` of `cli/in_and_out`. Whoever needs
another way stands in a table here, with the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "kmerge_git"

# what a function writes that is not seen to be safe, and why it is
ELSEWHERE = {
    "cli/in_and_out.py write": "a manifest, byte for byte",
    "cli/in_and_out.py show": "ASCII, with escapes for all else: tests/report/test_formats.py",
    "cli/in_and_out.py show_lines": "lines that `painted` made safe",
    "cli/in_and_out.py tell_json": "ASCII, with escapes for all else: tests/report/test_formats.py",
    "cli/vendor_actions.py diff": "a patch, byte for byte; lines for people on a terminal",
    "cli/diff.py _print_patch": "a patch, byte for byte; lines for people on a terminal",
    "cli/merge_branch.py _relay": "the words of git, line by line",
    "cli/check.py run": "the registry's own words",
    "cli/completion.py run": "names of our own: commands, options, words",
    "cli/preview.py run": "a report: tests/git/test_preview_formats.py",
    "cli/check.py _report": "a report: tests/report/test_formats.py",
    "cli/hook_check.py _told": "what `cli/check.py _report` has printed",
    "cli/check.py _mend": "a diff that `_diff` made line by line",
    "cli/object_files.py emit": "a diff that `difference` made line by line",
    "cli/main.py _complain": "an excerpt that `KmergeError.caret` made",
    "cli/main.py _help": "names and summaries of our own",
    "cli/drive.py _version": "a constant",
    "cli/drive.py main": "a constant",
    "cli/in_and_out.py update": "counts and a unit of ours",
    "packages/exchange_journal.py write": "a file's bytes, into a file",
    "cli/start.py tell": "printable, or as ascii() has it",
}
STREAMS = ("stdout", "stderr", "stream", "out", "buffer", "there")


def writes(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Every text that goes to a stream, with the function that sends it there."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for call in ast.walk(function):
            if not isinstance(call, ast.Call):
                continue
            if isinstance(call.func, ast.Name) and call.func.id == "print":
                yield from ((function.name, text) for text in call.args)
            elif isinstance(call.func, ast.Attribute) and call.func.attr == "write":
                stream = ast.unparse(call.func.value)
                if stream.rpartition(".")[2].lstrip("_") in STREAMS:
                    yield from ((function.name, text) for text in call.args)


def is_safe(text: ast.expr) -> bool:
    """Whether it can be seen that nothing of others is in it as it came."""
    if isinstance(text, ast.Constant):
        return True
    if isinstance(text, ast.BinOp):
        return is_safe(text.left) and is_safe(text.right)
    if isinstance(text, ast.JoinedStr):
        values = (v.value if isinstance(v, ast.FormattedValue) else v for v in text.values)
        return all(map(is_safe, values))
    if not isinstance(text, ast.Call):
        return False
    called = ast.unparse(text.func)
    return called == "visible" or called.rpartition(".")[0].endswith("paint")


@cache
def doubtful() -> list[tuple[str, str]]:
    """The texts of the package that may hold something of others, with their places."""
    return [
        (f"{file.relative_to(PACKAGE).as_posix()} {function}", ast.unparse(text))
        for file in sorted(PACKAGE.rglob("*.py"))
        for function, text in writes(ast.parse(file.read_text("utf-8")))
        if not is_safe(text)
    ]


def test_all_that_is_printed_went_through_visible() -> None:
    unknown = [f"{place}: {text}" for place, text in doubtful() if place not in ELSEWHERE]
    assert unknown == []


def test_the_table_has_no_place_too_many() -> None:
    assert {*ELSEWHERE} - {place for place, _ in doubtful()} == set()


@pytest.mark.parametrize(
    "code, safe",
    [
        ("print('a')", True),
        ("print(visible(x))", True),
        ("print(paint.line(x))", True),
        ("self._stream.write(self._paint.line(x) + '\\n')", True),
        ("print(f'{visible(x)}: y')", True),
        ("print(x)", False),
        ("print(f'{x}: y')", False),
        ("print(json.dumps(x))", False),
        ("sys.stderr.write(x + '\\n')", False),
        ("sys.stdout.buffer.write(x)", False),
    ],
)
def test_the_eye_of_this_test(code: str, safe: bool) -> None:
    ((_, text),) = writes(ast.parse(f"def f():\n    {code}"))
    assert is_safe(text) == safe
