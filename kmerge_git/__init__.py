"""Merge Kubernetes manifests by resource, field and keyed list.

A public name is loaded when a program first uses that name, so that importing the package costs
nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

# maps each public name to the module that defines the name
_HOMES: dict[str, str] = {
    "CannotParse": "errors",
    "GitFailed": "errors",
    "KmergeError": "errors",
    "PatchConflict": "errors",
    "PatchError": "errors",
    "Unsupported": "errors",
    "UsageError": "errors",
    "Conflict": "outcome",
    "Decision": "outcome",
    "Outcome": "outcome",
    "Finding": "finding",
    "merge_files": "api",
    "apply_config": "patch.apply_config",
    "make_json_patch3": "patch.make_patch",
    "merge2": "merge.kyaml.two_way",
    "merge3": "merge.kyaml.kyaml_merges",
    "make_patch3": "patch.make_patch",
    "make_patch": "patch.make_patch",
    "apply_patch": "patch.apply_patch",
    "Schema": "patch.patch_schema",
    "check_text": "check.run",
}

__all__ = ["__version__", *sorted(_HOMES)]  # noqa: PLE0604  (the names are strings)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'kmerge_git' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"kmerge_git.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
