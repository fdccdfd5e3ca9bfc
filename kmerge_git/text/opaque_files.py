"""Recognise files that must not be merged by fields: SOPS files, and text files of Helm charts.

The checksum (MAC) of a SOPS file covers all values of the file. The template helpers and the notes
of a chart are plain text, even if their names suggest YAML.
"""

from __future__ import annotations

SEALED = "a SOPS file is merged with sops, not by text"


def is_sealed(text: str) -> bool:
    """Return whether a text was encrypted by SOPS."""
    if not ("mac: ENC[" in text or '"mac": "ENC[' in text):
        return False
    return "\nsops:" in text or '"sops":' in text or text.startswith("sops:")


def holds_seal(*versions: bytes) -> bool:
    """Return whether any version of a file was encrypted by SOPS."""
    return any(is_sealed(data.decode("utf-8", "replace")) for data in versions)


FOLDER = "templates"


def is_chart_text(path: str) -> bool:
    """Return whether a path leads to the template helpers or the notes of a Helm chart.

    These files are `templates/**/*.tpl` and `templates/NOTES.txt`. Helm renders them as plain text,
    so they are not YAML even if they look like YAML.
    """
    if not path.endswith((".tpl", "/NOTES.txt")):
        return False
    folders = path.split("/")[:-1]
    return FOLDER in folders if path.endswith(".tpl") else folders[-1] == FOLDER
