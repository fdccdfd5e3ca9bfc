"""Leave a file that SOPS or Ansible Vault encrypted in conflict, if both sides changed it.

SOPS writes a checksum over the values of a file, and a text of Ansible Vault is one value, so a
mixture of two versions cannot be decrypted. Nothing settles a part of such a conflict.
"""

from __future__ import annotations

from kmerge_git.merge.three import Three
from kmerge_git.outcome import Conflict, Options, Outcome
from kmerge_git.text.diff3 import uncommon
from kmerge_git.text.markers import conflict, marker_size_for
from kmerge_git.text.opaque_files import VAULT, holds_seal
from kmerge_git.text.pieces import without_placeholders
from kmerge_git.visible import label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.verify.line_opinion import Asked
    from kmerge_git.tree.documents import YamlText

BOTH = "both sides changed the file, and a mixture of both could not be decrypted"


def merged(texts: Three[YamlText], options: Options, lines: Asked) -> Outcome:
    """Return the conflict of a file that is encrypted in ours or theirs.

    The conflict has the hunks of git's line merge. It is the whole file if git has no hunk, if a
    side has lines like markers, in a file of Ansible Vault, and in an inner merge of a criss-cross.
    """
    data = texts.map(lambda text: text.data)
    is_vault = any(side.startswith(VAULT.encode()) for side in (data.ours, data.theirs))
    why = f"{'an Ansible Vault' if is_vault else 'a SOPS'} file: {BOTH}"
    # where a side has lines like markers, the markers of the lines are longer
    if is_vault or options.virtual or lines.marker_size() != options.marker_size:
        return _whole_file(data, options, why)
    is_labelled = options.labels_so_far == options.labels
    result, count = lines.result() if is_labelled else lines.again()
    if count <= 0:
        return _whole_file(data, options, why)
    text = without_placeholders(result.data.decode("utf-8", "surrogateescape"))
    return _sealed(_encoded(_with_cause(text, options)), why)


def unmerged(texts: Three[bytes], options: Options, why: str) -> Outcome | None:
    """Return an encrypted file as one conflict, or None if ours and theirs are not encrypted."""
    return _whole_file(texts, options, why) if holds_seal(texts.ours, texts.theirs) else None


def _whole_file(texts: Three[bytes], options: Options, why: str) -> Outcome:
    """Return a file as one conflict; in an inner merge of a criss-cross, as one placeholder."""
    if options.virtual:
        from kmerge_git.merge.placeholders import nothing_decided

        return _sealed(nothing_decided(texts), why)
    decoded = texts.map(lambda side: side.decode("utf-8", "surrogateescape"))
    return _sealed(whole(decoded, options, _cause(options)), why)


def _sealed(data: bytes, why: str) -> Outcome:
    return Outcome(data, False, "sealed", conflicts=(Conflict("", "", why),), reason=why)


def whole(texts: Three[str], options: Options, cause: str = "") -> bytes:
    """Return a file between markers; lines that the versions begin or end with are outside."""
    is_crlf = all(text.count("\r\n") == text.count("\n") > 0 for text in texts.each() if text)
    at = texts.map(lambda text: text.replace("\r\n", "\n")) if is_crlf else texts
    start, behind = uncommon(*at.each()[options.style == "merge" :])
    inside = at.map(lambda text: text[start : max(start, len(text) - behind)])
    base, ours, theirs = options.labels
    labels = " ".join(filter(None, (ours, cause))), base, theirs
    old = without_placeholders(inside.base) if options.style != "merge" else None
    size = marker_size_for(at.each(), options.marker_size)
    end = at.ours[len(at.ours) - behind :] if behind else ""
    text = at.ours[:start] + conflict(inside.ours, old, inside.theirs, labels, size) + end
    return _encoded(text.replace("\n", "\r\n") if is_crlf else text)


def _with_cause(text: str, options: Options) -> str:
    """Return git's line merge with the cause behind the name of our side."""
    start = "<" * options.marker_size
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.startswith(start) and not line.startswith(start + "<"):
            bare = line.rstrip("\r")
            lines[number] = f"{bare} {_cause(options)}{line[len(bare) :]}"
    return "\n".join(lines)


def _cause(options: Options) -> str:
    """Return the words that follow the name of our side in the first marker of a conflict."""
    command = f"kmerge explain {label(options.path)}".rstrip()
    return f"(encrypted: see `{command}`)"


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
