"""What git knows that the checks need before they run: settings, and definitions of resources."""

from __future__ import annotations

import os

from kmerge_git.cli.check_places import from_top_of, git_directory, is_beyond, top_here
from kmerge_git.git.hints import may_be_configured, may_be_said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

KEYS = r"^kmerge\.(crd|check\.ignore)$"
CRD_ATTRIBUTE = "kmerge-crd"
IGNORING = "KMERGE_CHECK_IGNORE"  # the variable for `kmerge.check.ignore`


def configuration() -> list[tuple[str, str]]:
    """What git's configuration says to the checks: keys and values."""
    folder = git_directory()
    if not folder or not may_be_configured(folder, b"[kmerge"):
        return []
    from kmerge_git.git.questions import GitQuestion, config_pairs

    return config_pairs(GitQuestion("config", "--null", "--get-regexp", KEYS).answer())


def learn_definitions(configured: Iterable[tuple[str, str]], files: list[str]) -> list[str]:
    """Make the checks know the custom resources that are defined; says what is of no use."""
    places = [place for key, place in configured if key == "kmerge.crd" and place]
    named = _named_for(files)
    if not places and not named:
        return []
    from kmerge_git.kube.crdfiles import learn_files, learn_own

    top = top_here()
    if not top:
        return []
    problems = learn_files(os.path.join(top, place) for place in places)
    return problems + learn_own(top, named)


def _named_for(files: list[str]) -> list[str]:
    """The places that the attribute names for some files; git is asked once, or not at all."""
    folder = git_directory()
    if not folder:
        return []
    near = os.path.dirname(os.path.abspath(folder))
    if not may_be_said(folder, near, CRD_ATTRIBUTE.encode(), [from_top_of(near, f) for f in files]):
        return []
    from kmerge_git.git.checkattribute import in_working_tree

    top = top_here()
    paths = [name for file in files if not is_beyond(name := from_top_of(top, file))]
    values = in_working_tree(top, paths, CRD_ATTRIBUTE) if top and paths else {}
    said = [value for value in values.values() if value not in ("set", "unset")]
    return list(dict.fromkeys(place for value in said for place in value.split(",") if place))
