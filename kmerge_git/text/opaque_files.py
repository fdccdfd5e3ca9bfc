"""Tell files that are no YAML to be merged by field: files of SOPS, and text files of Helm charts.

The mac of a SOPS file covers all its values. The helpers and the notes of a chart are text,
though no suffix says so.
"""

from __future__ import annotations

SEALED = "a SOPS file is merged with sops, not by text"


def is_sealed(text: str) -> bool:
    """Whether a text is a file that SOPS encrypted."""
    if not ("mac: ENC[" in text or '"mac": "ENC[' in text):
        return False
    return "\nsops:" in text or '"sops":' in text or text.startswith("sops:")


def holds_seal(*versions: bytes) -> bool:
    """Whether one of the versions of a file is sealed."""
    return any(is_sealed(data.decode("utf-8", "replace")) for data in versions)


FOLDER = "templates"


def is_chart_text(path: str) -> bool:
    """Whether a path is that of helpers (`templates/**/*.tpl`) or notes (`templates/NOTES.txt`).

    No reader takes them for YAML, whatever they look like: Helm renders them as text.
    """
    if not path.endswith((".tpl", "/NOTES.txt")):
        return False
    folders = path.split("/")[:-1]
    return FOLDER in folders if path.endswith(".tpl") else folders[-1] == FOLDER
