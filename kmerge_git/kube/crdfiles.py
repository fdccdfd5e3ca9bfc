"""Reads CustomResourceDefinitions out of files and folders, for the rules that merge by key."""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.system import calls, exists, is_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIXES = (".yaml", ".yml", ".json")
_KIND, _LINK, _FILE = 0o170000, 0o120000, 0o100000
_LARGEST = 16 << 20  # bytes of a file that attributes name


def kinds_of(text: str) -> list[str] | None:
    """What may be the kinds of the resources in a file, also of those in lists, and in JSON.

    None where one is spelled in a way that only a parser reads.
    """
    found = []
    for rest in text.split("kind")[1:]:
        before, _, value = rest.lstrip("\"' ").partition(":")
        if before:
            continue  # a longer word, or no key
        words = value.partition("\n")[0].split()
        while words and words[0][0] in "&!":  # an anchor, a tag
            del words[0]
        name = _name(words[0].lstrip("\"'")) if words else ""
        if not name:
            return None
        found.append(name)
    return found


def _name(word: str) -> str:
    """The letters and digits with which a word starts."""
    end = next((at for at, char in enumerate(word) if not char.isalnum()), len(word))
    return word[:end]


def learn_files(paths: Iterable[str], kinds: Iterable[str] | None = None) -> list[str]:
    """Make the rules know the CRDs in these places; says which places are of no use.

    With `kinds` only files are parsed that name one of them: a driver merges one file.
    """
    return [problem for path in paths for problem in _learned("kmerge.crd", path, kinds)]


def learn_own(top: str, places: Iterable[str], kinds: Iterable[str] | None = None) -> list[str]:
    """The same for places that an attribute names: whoever wrote it, they lie below the top.

    What comes with a repository must not make us read anything else: no symbolic link is followed.
    """
    problems = []
    for place in places:
        why = _obstacle(top, place)
        if why:
            problems.append(f"kmerge-crd: `{place}` {why}: it is not read")
        else:
            problems += _learned("kmerge-crd", _joined(top, place), kinds, is_own=True)
    return problems


def _learned(
    name: str, path: str, kinds: Iterable[str] | None, *, is_own: bool = False
) -> Iterator[str]:
    """Learn what is at a place, and say what is wrong with it."""
    try:
        files = [file for file in _files(path) if not is_own or _is_plain(file)]
        found = [learn(_read(file), file, kinds) for file in files]
    except (KmergeError, OSError, RecursionError) as error:
        yield f"{name}: {error}; its lists are merged as if nobody declared them"
        return
    if not any(found):
        yield f"{name}: there is no CustomResourceDefinition in `{path}`"


def _obstacle(top: str, place: str) -> str:
    """Why a place is none of the repository's own files, or nothing."""
    parts = place.replace("\\", "/").strip("/").split("/")
    if place[:1] in ("/", "\\") or ":" in place or ".." in parts or ".git" in parts:
        return "lies outside of the repository"
    for count in range(1, len(parts) + 1):
        at = _joined(top, "/".join(parts[:count]))
        if exists(at) and calls.lstat(at).st_mode & _KIND == _LINK:
            return "leads over a symbolic link"
    return ""


def _joined(top: str, place: str) -> str:
    return f"{top.rstrip('/')}/{place}" if top else place


def _is_plain(file: str) -> bool:
    """Whether this is a regular file of a sound size."""
    about = calls.lstat(file)
    return about.st_mode & _KIND == _FILE and about.st_size <= _LARGEST


def learn(data: bytes, path: str, kinds: Iterable[str] | None = None) -> bool:
    """Make the rules know the CRDs of a file; whether there is one in it."""
    if b"CustomResourceDefinition" not in data:
        return False
    if kinds is not None and not any(kind.encode() in data for kind in kinds):
        return True
    from kmerge_git.kube.crdkeys import learn_definition
    from kmerge_git.tree.values import load

    known = [learn_definition(value) for value in load(data, path) if isinstance(value, dict)]
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
