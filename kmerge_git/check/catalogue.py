"""Loads the modules of the checks: those that every file needs, and those for patches alone."""

from __future__ import annotations

from importlib import import_module

COMMON = ("damage", "damage_lists", "entries", "patch_files", "across", "history")
FOR_PATCHES = (
    "patch_maps",
    "patch_lists",
    "patch_elements",
    "patch_parallel",
    "patch_retain",
    "patch_spelling",
)
OPTIONAL = ("traps",)


def load(*groups: tuple[str, ...]) -> None:
    """Import the modules of some groups, or of all."""
    for group in groups or (COMMON, FOR_PATCHES, OPTIONAL):
        for name in group:
            import_module(f"kmerge_git.check.{name}")
