"""Recognise files by texts and paths: sealed files, chart texts, JSON, timestamps of programs.

SOPS writes a checksum (`mac`) over the values of a file into a block of its own, and Ansible Vault
encrypts whole texts. The template helpers and the notes of a chart are plain text, even if their
names suggest YAML.
"""

from __future__ import annotations

SEALED = "a file encrypted with SOPS cannot be merged as text"
VAULT = "$ANSIBLE_VAULT;"  # every text that Ansible Vault encrypted begins with this
LOCK, INDEX, OPERATOR = "\ndigest:", "\nentries:", "\nkind: ClusterServiceVersion"
# the names of Helm's files with a timestamp, each with the start of a line that the file has
TIMED = {"Chart.lock": LOCK, "requirements.lock": LOCK, "index.yaml": INDEX}
_HEX = "0123456789abcdefABCDEF"


def is_binary(data: bytes) -> bool:
    """Return whether git treats a file as binary."""
    return b"\0" in data[:8000]


def holds_seal(*versions: bytes) -> bool:
    """Return whether SOPS, or Ansible Vault as a whole, encrypted any version of a file."""
    return any(
        data.startswith(VAULT.encode())
        or (b"sops" in data and is_sealed(data.decode("utf-8", "replace")))
        for data in versions
    )


def is_sealed(text: str) -> bool:
    """Return whether a text was encrypted by SOPS, as YAML, JSON, dotenv or ini.

    Such a text has a map `sops` with a `mac` at the top level, a line `sops_mac=` or a section
    `[sops]` with a `mac`.
    """
    if "sops" not in text or "mac" not in text:
        return False
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _has_block_in_braces(text)
    lines = text.split("\n")
    if any(line.startswith("sops_mac=") for line in lines):
        return True
    for number, line in enumerate(lines):
        if line.rstrip() == "[sops]" and _has_mac(lines[number + 1 :], "[", "="):
            return True
        key, colon, rest = line.lstrip("\ufeff").partition(":")
        if colon and key.rstrip() in ("sops", '"sops"', "'sops'"):
            is_flow = rest.lstrip().startswith("{")
            below = [line for line in lines[number + 1 :] if line.strip()]
            if _has_block_in_braces("{sops:" + rest) if is_flow else _has_mac(below, "", ":"):
                return True
    return False


def _has_mac(lines: list[str], end: str, sign: str) -> bool:
    """Return whether a section of lines has a key `mac`.

    The section ends at a line that starts with `end`, or, if `end` is '', at a line without the
    indentation of the first line.
    """
    inside = [line for line in lines if not line.lstrip().startswith("#")]
    indent = len(inside[0]) - len(inside[0].lstrip()) if inside and not end else 0
    if not (inside and (end or indent)):
        return False
    for line in inside:
        depth = len(line) - len(line.lstrip())
        if line.startswith(end) if end else depth < indent:
            return False
        key, found, value = line.partition(sign)
        if found and depth == indent and key.strip() in ("mac", '"mac"', "'mac'"):
            return bool(value.strip())
    return False


def _has_block_in_braces(text: str) -> bool:
    """Return whether the map that a text in braces begins with has a map `sops` with a `mac`."""
    at, depth, name = 0, 0, ""
    while at < len(text):
        char = text[at]
        if char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
        elif char == '"' or char.isalnum() or char == "_":
            end = _word_end(text, at)
            word = text[at:end].strip('"')
            if depth == 1:
                name = word
            elif depth == 2 and name == "sops" and word == "mac":
                return text[end:].lstrip().startswith(":")
            at = end - 1
        at += 1
    return False


def _word_end(text: str, at: int) -> int:
    """Return the end of the quoted or bare word that starts at an offset."""
    end = at + 1
    if text[at] != '"':
        while text[end : end + 1].isalnum() or text[end : end + 1] == "_":
            end += 1
        return end
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    return end + 1


def mixes_vaults(result: str, *versions: str) -> bool:
    """Return whether a result has a text of Ansible Vault that no version has.

    Nobody can decrypt a mixture of the lines of two such texts.
    """
    if VAULT not in result:
        return False
    known = {vault for version in versions for vault in _vaults(version)}
    return any(vault not in known for vault in _vaults(result))


def _vaults(text: str) -> list[tuple[str, ...]]:
    """Return the lines of each text that Ansible Vault encrypted, without indentation."""
    lines = list(map(str.strip, text.split("\n")))
    starts = [number for number, line in enumerate(lines) if VAULT in line]
    return [
        (lines[at][lines[at].index(VAULT) :], *lines[at + 1 : vault_end(lines, at)])
        for at in starts
    ]


def vault_end(lines: list[str], start: int) -> int:
    """Return the number behind the last line of a text of Ansible Vault, which has hex digits."""
    end = start + 1
    while end < len(lines) and (line := lines[end].strip()) and not line.strip(_HEX):
        end += 1
    return end


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


def is_json(path: str, versions: list[bytes]) -> bool:
    """Return whether a file is JSON: by its path, or, if that says nothing, by all its versions."""
    if path.endswith((".json", ".yaml", ".yml")):
        return path.endswith(".json")
    starts = [text.removeprefix(b"\xef\xbb\xbf").lstrip()[:2] for text in versions]
    return any(starts) and all(
        start[:1] in (b"{", b"[", b"") and start != b"{{" for start in starts
    )


def place_of_time(path: str, texts: list[str]) -> tuple[str, ...]:
    """Return the keys above the timestamp that a program writes into a document, or ().

    `texts` are the versions of the document.
    """
    if all(OPERATOR in f"\n{text}" for text in texts):
        return ("metadata", "annotations", "createdAt")
    line = TIMED.get(path.rpartition("/")[2])
    return ("generated",) if line and all(line in f"\n{text}" for text in texts) else ()
