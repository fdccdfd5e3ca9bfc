"""Recognize the paths of manifests, and the texts that a generator seems to have written."""

from __future__ import annotations

import re
from pathlib import Path

from kmerge_git.atomic_files import start_of
from kmerge_git.bounds import GENERATOR_BYTES, GENERATOR_CHARACTERS, GENERATOR_LINES
from kmerge_git.text.opaque_files import is_chart_text
from kmerge_git.visible import shortened

_SUFFIXES = (".yaml", ".yml", ".kyaml")
_NAMES = ("kustomization", "Kustomization")


def is_merged(path: str, *, json: bool = False) -> bool:
    """Return whether `kmerge install` registers a path; JSON files count only with `json`."""
    return is_manifest(path, json=json) or is_chart_text(path)


def is_manifest(path: str, *, json: bool = False) -> bool:
    """Return whether a file of that name can hold Kubernetes resources or Helm values."""
    name = path.rpartition("/")[2]
    return name.endswith(_SUFFIXES) or name in _NAMES or (json and name.endswith(".json"))


def way_out(driver: str | None) -> str:
    """If the merge attribute `driver` keeps a file from kmerge, return the reason, otherwise ''."""
    if driver in (None, "set", "text", "unspecified"):  # git's words for `no driver in particular`
        return ""
    way = "turn merging off" if driver in ("unset", "binary") else f"set merge={driver}"
    return f"the attributes {way}"


def is_selected(path: str, chosen: tuple[str, ...]) -> bool:
    """Return whether a path is a chosen file or lies below a chosen directory.

    Without a choice every path is selected.
    """
    return not chosen or any(
        pick in ("", ".") or path == pick or path.startswith(pick.rstrip("/") + "/")
        for pick in chosen
    )


_AUTO = r"(?:auto[- ]?|automatically )?generated\b"
_BY = r"(?:by(?! default)|with|from|using|file|code|manifests?)\b"
_WORDS = re.compile(
    # the line must be about the file itself: many lines are about generated passwords or names
    r"^#\W*(?:(?:note|warning|do not edit|this is|an?|code|file)\W+)*"
    rf"{_AUTO}(?: {_BY}|\W*$|[.,;:!]|\W+do not\b)"
    rf"|\bthis (?:\w+ )?(?:file|manifest|document) (?:is|was|has been) (?:an? )?{_AUTO}"
    rf"|\bgenerated {_BY}.*\bdo not (?:edit|modify|change)\b"
    rf"|\bdo not (?:edit|modify|change)\b.*\bgenerated {_BY}"
    r"|@generated\b"
    r"|^# Source: \S+/templates/\S",  # helm template
    re.I,
)
_CONTROLLER_GEN = "controller-gen.kubebuilder.io/version:"


def generator_line(text: bytes) -> str:
    """Return the line at the top of a text that names a generator, or ''."""
    lines = text[:GENERATOR_BYTES].decode("utf-8", "replace").lstrip("\ufeff").split("\n")
    is_top = True
    for line in map(str.strip, lines[:GENERATOR_LINES]):
        is_top = is_top and (not line or line.startswith(("#", "---", "%")))
        is_comment = is_top and line.startswith("#") and _WORDS.search(line)
        if is_comment or line.startswith(_CONTROLLER_GEN):
            return shortened(line, GENERATOR_CHARACTERS)
    return ""


def generator_of(file: Path) -> str:
    """Return the line at the top of a file that names a generator, or ''."""
    return generator_line(start_of(file, GENERATOR_BYTES))
