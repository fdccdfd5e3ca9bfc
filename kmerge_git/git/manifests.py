"""Which paths are taken for manifests, and which are merged beside them."""

from __future__ import annotations

from kmerge_git.text.charts import is_chart_text

_SUFFIXES = (".yaml", ".yml", ".kyaml")
_NAMES = ("kustomization", "Kustomization")


def is_merged(path: str, *, json: bool = False) -> bool:
    """Whether a path is one that `kmerge install` registers; JSON files only where asked for."""
    return is_manifest(path, json=json) or is_chart_text(path)


def is_manifest(path: str, *, json: bool = False) -> bool:
    """Whether a path is one of those that can hold resources or values, and not text alone."""
    name = path.rpartition("/")[2]
    return name.endswith(_SUFFIXES) or name in _NAMES or (json and name.endswith(".json"))


def way_out(driver: str | None) -> str:
    """Why a file with this merge attribute is not for us, where the attribute says so."""
    if driver in (None, "set", "text", "unspecified"):  # git's words for `no driver in particular`
        return ""
    way = "set not to be merged" if driver in ("unset", "binary") else f"merge={driver}"
    return f"{way} in the attributes"


def is_selected(path: str, chosen: tuple[str, ...]) -> bool:
    """Whether a path is one of the chosen files, or below one of the chosen directories."""
    return not chosen or any(
        pick in ("", ".") or path == pick or path.startswith(pick.rstrip("/") + "/")
        for pick in chosen
    )
