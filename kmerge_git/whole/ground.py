"""Where the results of a whole merge will be written: a working tree, or nowhere yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from kmerge_git.merge.three import Three


class Ground(Protocol):
    """Where the results will be written: it may hold work that nobody staged."""

    def in_the_way(
        self, path: str, three: Three[bytes | None], made: Iterable[bytes | None]
    ) -> str:
        """Why a file in conflict must be left alone, or nothing; `made` is what we may leave."""

    def is_as_staged(self, path: str, data: bytes) -> bool:
        """Whether a file that is not in conflict holds nothing else."""


class Nowhere:
    """Trees: nobody works in them."""

    def in_the_way(
        self, path: str, three: Three[bytes | None], made: Iterable[bytes | None]
    ) -> str:
        """Nothing ever is."""
        return ""

    def is_as_staged(self, path: str, data: bytes) -> bool:
        """It always is."""
        return True


NOWHERE = Nowhere()
