"""Read CustomResourceDefinitions from files and folders, and the list keys that they declare.

`x-kubernetes-list-type` and `x-kubernetes-list-map-keys` mean the same as in server-side apply. If
a CRD declares nothing about a list, the key is inferred from the elements, as for kinds without a
CRD, because most authors of CRDs omit the declaration.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.kube import keytable
from kmerge_git.system import calls, exists, is_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    Node = Mapping[str, Any]
    Tree = dict[str, dict[str, Any]]


SUFFIXES = (".yaml", ".yml", ".json")
_KIND, _LINK, _FILE = 0o170000, 0o120000, 0o100000
_LARGEST = 16 << 20  # the most bytes of a file that an attribute names


def kinds_of(text: str) -> list[str] | None:
    """Return the words of a file that may be kinds of resources, including those in lists and JSON.

    Return None if the file writes a kind in a way that only a parser can read.
    """
    kinds = []
    for rest in text.split("kind")[1:]:
        before, _, value = rest.lstrip("\"' ").partition(":")
        if before:
            continue  # a longer word, or no key
        words = value.partition("\n")[0].split()
        while words and words[0][0] in "&!":  # an anchor, a tag
            del words[0]
        word = words[0].lstrip("\"'") if words else ""
        end = next((at for at, char in enumerate(word) if not char.isalnum()), len(word))
        if not end:
            return None
        kinds.append(word[:end])
    return kinds


def learn_files(paths: Iterable[str], kinds: Iterable[str] | None = None) -> list[str]:
    """Add the CRDs in these files and folders to the list rules; return the problems found.

    With `kinds`, parse only files that name one of these kinds. This saves time in a merge driver,
    which merges a single file.
    """
    return [problem for path in paths for problem in _learned("kmerge.crd", path, kinds)]


def learn_own(top: str, places: Iterable[str], kinds: Iterable[str] | None = None) -> list[str]:
    """Add the CRDs that a git attribute names to the list rules; return the problems found.

    The attribute belongs to the repository, so it must not lead to files outside of the repository.
    Therefore paths start at the top folder, and symbolic links are not followed.
    """
    problems = []
    for place in places:
        why = _obstacle(top, place)
        if why:
            problems.append(f"kmerge-crd: `{place}` {why}; kmerge does not read this file")
        else:
            problems += _learned("kmerge-crd", _joined(top, place), kinds, is_own=True)
    return problems


def _learned(
    name: str, path: str, kinds: Iterable[str] | None, *, is_own: bool = False
) -> Iterator[str]:
    """Add the CRDs in a file or folder to the list rules, and yield the problems found."""
    try:
        files = [file for file in _files(path) if not is_own or _is_plain(file)]
        has_crds = [learn(_read(file), file, kinds) for file in files]
    except (KmergeError, OSError, RecursionError) as error:
        yield f"{name}: {error}; kmerge ignores the list keys of these CRDs"
        return
    if not any(has_crds):
        yield f"{name}: `{path}` contains no CustomResourceDefinition"


def _obstacle(top: str, place: str) -> str:
    """Return the reason why a path cannot be read as a file of the repository, or ''."""
    parts = place.replace("\\", "/").strip("/").split("/")
    if place[:1] in ("/", "\\") or ":" in place or ".." in parts or ".git" in parts:
        return "is outside of the repository"
    for count in range(1, len(parts) + 1):
        at = _joined(top, "/".join(parts[:count]))
        if exists(at) and calls.lstat(at).st_mode & _KIND == _LINK:
            return "goes through a symbolic link"
    return ""


def _joined(top: str, place: str) -> str:
    return f"{top.rstrip('/')}/{place}" if top else place


def _is_plain(file: str) -> bool:
    """Return whether a path is a regular file of at most `_LARGEST` bytes."""
    about = calls.lstat(file)
    return about.st_mode & _KIND == _FILE and about.st_size <= _LARGEST


def learn(data: bytes, path: str, kinds: Iterable[str] | None = None) -> bool:
    """Add the CRDs of a file to the list rules; return whether the file holds a CRD."""
    if b"CustomResourceDefinition" not in data:
        return False
    if kinds is not None and not any(kind.encode() in data for kind in kinds):
        return True
    from kmerge_git.tree.plain_values import load

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


_INFER = ("", "?", "")


def learn_definition(crd: Node) -> tuple[str, str] | None:
    """Add the lists of a CRD to the list rules; return the group and kind of the CRD.

    Return None if the mapping is not a CRD.
    """
    for (group, kind), tree in crd_list_keys(crd).items():
        facts = _facts(tree) | {"metadata": keytable.fields(keytable.root("v1", "Pod"))["metadata"]}
        keytable.learn(group, kind, keytable.define(facts))
        return group, kind
    return None


def crd_list_keys(crd: Node) -> dict[tuple[str, str], Tree]:
    """Return the lists that a CRD declares, as a tree under the group and the kind of the CRD.

    A tree is `{field: facts}`. The facts of a list have "keys" (the key fields) with "defaults" (a
    default value for each key), or "set": True, or "atomic": True. "below" holds the tree of the
    values below a field. With "list": True, that tree describes each element of a list; with
    "each": True, it describes each value of a map. All versions of the CRD are combined; if two
    versions declare a list differently, the later version wins.
    """
    spec = crd.get("spec") if crd.get("kind", "") == "CustomResourceDefinition" else None
    if not isinstance(spec, dict):
        return {}
    names = (str(spec.get("group", "")), str(_map(spec.get("names")).get("kind", "")))
    tree: Tree = {}
    for schema in _schemas(spec):
        _overlay(tree, _lists_below(schema))
    return {names: tree} if all(names) else {}


def _schemas(spec: Node) -> Iterator[Node]:
    for holder in (spec, *_list(spec.get("versions"))):
        for field in ("validation", "schema"):  # v1beta1 and v1
            yield _map(_map(_map(holder).get(field)).get("openAPIV3Schema"))


def _map(value: object) -> Node:
    """Return a value if it is a mapping; otherwise return an empty mapping.

    The CRD may be malformed.
    """
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _lists_below(schema: Node) -> Tree:
    tree: Tree = {}
    for name, found in _map(schema.get("properties")).items():
        facts: dict[str, Any] = {}
        node = below = _map(found)
        if node.get("type") == "array":
            below = _map(node.get("items"))
            facts = {"list": True, **_declared(node, below)}
        elif isinstance(node.get("additionalProperties"), dict):
            facts = {"each": True}
            below = node["additionalProperties"]
        lists = _lists_below(below)
        if lists:
            facts["below"] = lists
        if lists or facts.keys() & {"keys", "set", "atomic"}:
            tree[name] = facts
    return tree


def _declared(node: Node, element: Node) -> dict[str, Any]:
    kind = node.get("x-kubernetes-list-type")
    keys = tuple(map(str, _list(node.get("x-kubernetes-list-map-keys"))))
    if kind == "map" and keys:
        fields = {key: _map(_map(element.get("properties")).get(key)) for key in keys}
        defaults = {key: field["default"] for key, field in fields.items() if "default" in field}
        return {"keys": keys, "defaults": defaults}
    return {str(kind): True} if kind in ("set", "atomic") else {}


def _overlay(tree: Tree, newer: Tree) -> None:
    for name, facts in newer.items():
        old = tree.setdefault(name, {})
        below = facts.get("below", {})
        old.update({k: v for k, v in facts.items() if k != "below"})
        if below:
            _overlay(old.setdefault("below", {}), below)


def _facts(tree: Tree) -> dict[str, keytable.Facts]:
    """Convert a tree into the columns of the key table."""
    return {"": _INFER, **{name: _columns(facts) for name, facts in tree.items()}}


def _columns(facts: dict[str, Any]) -> keytable.Facts:
    below = str(keytable.define(_facts(facts["below"]))) if "below" in facts else ""
    container = "[" if "list" in facts else "{" if "each" in facts else ""
    if "keys" in facts:
        defaults = facts["defaults"]
        words = (f"{key}={defaults[key]}" if key in defaults else key for key in facts["keys"])
        structural = ",".join(words)
    elif "set" in facts:
        structural = "*"
    else:
        structural = "" if "list" not in facts or "atomic" in facts else "?"
    return ("", structural, container + below if below else "")
