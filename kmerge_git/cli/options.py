"""Options that were called otherwise: the old spelling is taken for one more release."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any


class Old(argparse.Action):
    """An option under the name that it had: it is told, and acts as the new one."""

    def __init__(self, option_strings: Sequence[str], dest: str, **known: Any) -> None:
        self._now: argparse.Action = known.pop("now")
        self._value = known.pop("value")
        super().__init__(option_strings, dest, **known)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Tell the new spelling, then do what it does."""
        from kmerge_git.cli.files import say  # few options have an old name

        name = self._now.option_strings[-1]
        value = values if self._value is None else self._value
        new = name if self._value is None else f"{name} {value}"
        say(f"kmerge: {option_string} is called `{new}` now; the next release takes that alone")
        self._now(parser, namespace, value, name)


def add_old(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup,
    old: str,
    now: argparse.Action,
    value: str | None = None,
) -> None:
    """Take an option under its old name for one more release; with a value, a switch for it."""
    nargs, default = now.nargs if value is None else 0, argparse.SUPPRESS
    known: dict[str, Any] = {"now": now, "value": value, "choices": now.choices, "type": now.type}
    parser.add_argument(
        old,
        action=Old,
        dest=now.dest,
        nargs=nargs,
        default=default,
        help=argparse.SUPPRESS,
        **known,
    )
