"""Which files of a Helm chart are text, though no suffix says so: its helpers and its notes."""

from __future__ import annotations

FOLDER = "templates"


def is_chart_text(path: str) -> bool:
    """Whether a path is that of helpers (`templates/**/*.tpl`) or notes (`templates/NOTES.txt`).

    No reader takes them for YAML, whatever they look like: Helm renders them as text.
    """
    if not path.endswith((".tpl", "/NOTES.txt")):
        return False
    folders = path.split("/")[:-1]
    return FOLDER in folders if path.endswith(".tpl") else folders[-1] == FOLDER
