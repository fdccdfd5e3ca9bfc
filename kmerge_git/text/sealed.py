"""Files that must not be merged by field: the mac of a SOPS file covers all its values."""

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
