"""The sorts of files of a repository with manifests; a merge has other chances in each of them."""

from __future__ import annotations

from fnmatch import fnmatchcase

# the first that fits; what holds an action of a template and what names its kind is looked at last
BY_NAME = {
    "Chart.yaml": "Chart.yaml",
    "*values*": "values",
    "[Kk]ustomization*": "kustomizations",
}
BY_TEXT = {b"{{": "templates", b"apiVersion:": "manifests"}
OTHER = "other YAML"


def sort_of(path: str, text: bytes) -> str:
    """The sort of a file, told by its name, else by what stands in it."""
    name = path.rpartition("/")[2]
    by_name = (sort for pattern, sort in BY_NAME.items() if fnmatchcase(name, pattern))
    by_text = (sort for word, sort in BY_TEXT.items() if word in text)
    return next(by_name, "") or next(by_text, OTHER)
