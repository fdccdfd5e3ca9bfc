"""Reads CustomResourceDefinitions out of files and folders, for the rules that merge by key."""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.system import calls, exists, is_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIXES = (".yaml", ".yml", ".json")


def learn_files(paths: Iterable[str], kinds: Iterable[str] | None = None) -> list[str]:
    """Make the rules know the CRDs in these places; says which places are of no use.

    With `kinds` only files are parsed that name one of them: a driver merges one file.
    """
    problems = []
    for path in paths:
        try:
            found = [learn(_read(file), file, kinds) for file in _files(path)]
        except (KmergeError, OSError) as error:
            problems.append(f"kmerge.crd: {error}; its lists are merged as if nobody declared them")
            continue
        if not any(found):
            problems.append(f"kmerge.crd: there is no CustomResourceDefinition in `{path}`")
    return problems


def learn(data: bytes, path: str, kinds: Iterable[str] | None = None) -> bool:
    """Make the rules know the CRDs of a file; whether there is one in it."""
    if b"CustomResourceDefinition" not in data:
        return False
    if kinds is not None and not any(kind.encode() in data for kind in kinds):
        return True
    from kmerge_git.kube import crdkeys
    from kmerge_git.tree.values import load

    known = [crdkeys.learn(value) for value in load(data, path) if isinstance(value, dict)]
    return any(known)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _files(path: str) -> Iterator[str]:
    if not is_folder(path):
        if not exists(path):
            raise KmergeError("no such file or directory", path=path)
        yield path
        return
    for name in sorted(calls.listdir(path)):
        if name.endswith(SUFFIXES):
            yield f"{path.rstrip('/')}/{name}"
