"""Recognise files that no merge by fields may touch: files of SOPS, and text files of Helm charts.

The mac of a SOPS file covers all its values. The helpers and the notes of a chart are text,
although they have no suffix of a text.
"""

from __future__ import annotations

SEALED = "a SOPS file is merged with sops, not by text"


def is_sealed(text: str) -> bool:
    """Return whether a text is a file that SOPS encrypted."""
    if not ("mac: ENC[" in text or '"mac": "ENC[' in text):
        return False
    return "\nsops:" in text or '"sops":' in text or text.startswith("sops:")


def holds_seal(*versions: bytes) -> bool:
    """Return whether one of the versions of a file is sealed."""
    return any(is_sealed(data.decode("utf-8", "replace")) for data in versions)


FOLDER = "templates"


def is_chart_text(path: str) -> bool:
    """Return whether a path is that of helpers or notes of a chart.

    These are `templates/**/*.tpl` and `templates/NOTES.txt`. Helm renders them as text, so they are
    no YAML even if they look like it.
    """
    if not path.endswith((".tpl", "/NOTES.txt")):
        return False
    folders = path.split("/")[:-1]
    return FOLDER in folders if path.endswith(".tpl") else folders[-1] == FOLDER
