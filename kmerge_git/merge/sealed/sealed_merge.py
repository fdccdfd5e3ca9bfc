"""Merge a file that was encrypted in at least one version, or leave it in a conflict with markers.

The ordinary merge of the file is made only if a result could be decrypted, and its result is
compared with the seals of the three versions (see `file_seals`). Everything else is a conflict: the
text of git's line merge, with at least one pair of markers.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.merge.sealed import file_seals
from kmerge_git.merge.sealed.file_seals import BOTH, RESULT, block_entries, is_block_line
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Conflict, Options, Outcome
from kmerge_git.text.diff3 import uncommon
from kmerge_git.text.markers import conflict, marker_size_for
from kmerge_git.text.opaque_files import VAULT, holds_seal, seal_format
from kmerge_git.text.source import encode
from kmerge_git.text.undecided import without_placeholders
from kmerge_git.tree.documents import YamlText
from kmerge_git.visible import label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.merge.verify.line_opinion import Asked

UNREAD = "a SOPS file: a version of it cannot be read"
VAULTS = "an Ansible Vault file: both sides changed it, and it is one value"


def merged(
    texts: Three[YamlText], options: Options, lines: Asked, ordinary: Callable[[Options], Outcome]
) -> Outcome | None:
    """Return the merge of an encrypted file, or None if ours and theirs are not encrypted.

    The function `ordinary` merges the file without regard to its encryption.
    """
    decoded = texts.map(lambda text: text.data.decode("utf-8", "surrogateescape"))
    if decoded.ours.startswith(VAULT) or decoded.theirs.startswith(VAULT):
        return _whole(decoded, options, VAULTS, is_trimmed=False)
    forms = {form for form in (seal_format(decoded.ours), seal_format(decoded.theirs)) if form}
    if not forms:
        return None
    try:
        outcome = _of_seals(texts, forms, options, lines, ordinary)
    except KmergeError:
        outcome = UNREAD
    except Exception as error:  # a bug must cost a conflict, not data
        outcome = f"internal error: {type(error).__name__}: {error}"
    if isinstance(outcome, Outcome):
        return outcome
    return _conflict(texts, decoded, options, lines, outcome)


def unmerged(texts: Three[bytes], options: Options, why: str) -> Outcome | None:
    """Return an encrypted file as one conflict, or None if ours and theirs are not encrypted.

    Git's line merge of such a file can be clean although nobody can decrypt the result.
    """
    sides = texts.ours, texts.theirs
    if not (holds_seal(*sides) or any(side.startswith(VAULT.encode()) for side in sides)):
        return None
    return _whole(texts.map(lambda data: data.decode("utf-8", "surrogateescape")), options, why)


def _of_seals(
    texts: Three[YamlText],
    forms: set[str],
    options: Options,
    lines: Asked,
    ordinary: Callable[[Options], Outcome],
) -> Outcome | str:
    """Return a clean merge whose seal is right, or the cause of a conflict."""
    form = min(forms)
    if len(forms) > 1:
        return BOTH
    versions = texts.map(lambda text: file_seals.read(text, form))
    side = file_seals.wanted(versions)
    if not side:
        return file_seals.objection(versions)
    if form == "yaml":
        # nobody may settle a part of an encrypted file by a setting
        outcome = ordinary(options.but(rules="git", favor="", policy=False))
    else:
        text, count = lines.result()
        outcome = Outcome(text.data, count == 0, "lines")
    if not outcome.clean:
        return RESULT
    result = file_seals.read(YamlText(outcome.text, options.path), form)
    return outcome if file_seals.holds(result, versions, side) else RESULT


# -- conflicts


def _conflict(
    texts: Three[YamlText], decoded: Three[str], options: Options, lines: Asked, why: str
) -> Outcome:
    """Return git's line merge as a conflict; if it is clean, put markers around the `sops` block.

    The file is one conflict if git cannot merge it, or if a side has lines like markers.
    """
    sides = decoded.ours, decoded.theirs
    if options.virtual or marker_size_for(sides, options.marker_size) != options.marker_size:
        return _whole(decoded, options, why)
    is_labelled = options.labels_so_far == options.labels
    result, count = lines.result() if is_labelled else lines.again()
    if count > 0:
        text = _with_cause(result.data.decode("utf-8", "surrogateescape"), options)
        return _sealed(_encoded(without_placeholders(text)), why)
    try:
        data = _with_marked_block(texts, result, options) if count == 0 else b""
    except KmergeError:
        data = b""
    return _sealed(data, why) if data else _whole(decoded, options, why)


def _whole(texts: Three[str], options: Options, why: str, *, is_trimmed: bool = True) -> Outcome:
    """Return a file as one conflict; in an inner merge of a criss-cross, as one placeholder."""
    if options.virtual:
        from kmerge_git.merge.placeholders import nothing_decided

        return _sealed(nothing_decided(texts.map(_encoded)), why)
    return _sealed(whole(texts, options, _cause(options), is_trimmed=is_trimmed), why)


def whole(
    texts: Three[str], options: Options, cause: str = "", *, is_trimmed: bool = True
) -> bytes:
    """Return a file between markers; lines that the versions begin or end with are outside."""
    is_crlf = all(text.count("\r\n") == text.count("\n") > 0 for text in texts.each() if text)
    at = texts.map(lambda text: text.replace("\r\n", "\n")) if is_crlf else texts
    shown = at.each()[options.style == "merge" :]
    start, behind = uncommon(*shown) if is_trimmed else (0, 0)
    inside = at.map(lambda text: text[start : max(start, len(text) - behind)])
    size = marker_size_for(at.each(), options.marker_size)
    end = at.ours[len(at.ours) - behind :] if behind else ""
    text = at.ours[:start] + _marked(inside, options, size, cause) + end
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


def _with_marked_block(texts: Three[YamlText], result: YamlText, options: Options) -> bytes:
    """Return a clean line merge with markers around each `sops` block, or b'' if it has none."""
    text = result.source.text
    blocks = texts.map(_blocks)
    out, at = [], 0
    for number, (start, end) in enumerate(_spans(result)):
        inside = Three(*((known[number:] or known or [""])[0] for known in blocks.each()))
        out += [text[at:start], _marked(inside, options, options.marker_size, _cause(options))]
        at = end
    if not out:
        return b""
    is_ended = at == len(text) or result.source.final_newline
    return encode("".join(out) + text[at:], result.source.bom, result.source.eol, is_ended)


def _blocks(text: YamlText) -> list[str]:
    """Return the lines of the `sops` block of each document."""
    return [text.source.text[start:end] for start, end in _spans(text)]


def _spans(of: YamlText) -> list[tuple[int, int]]:
    """Return the bounds of the lines of each `sops` block in a text."""
    text, form = of.source.text, seal_format(of.source.text)
    if form == "yaml":
        entries = [entry for root in of.roots for entry in block_entries(root)]
        starts = [text.rfind("\n", 0, entry.start) + 1 for entry in entries]
        return [
            (start, text.find("\n", entry.end - 1) + 1 or len(text))
            for start, entry in zip(starts, entries, strict=True)
        ]
    at, section, numbers = 0, "", []
    for line in text.splitlines(keepends=True):
        section = line.strip() if line.startswith("[") else section
        if is_block_line(form, section, line):
            numbers.append((at, at + len(line)))
        at += len(line)
    return [(numbers[0][0], numbers[-1][1])] if numbers else []


def _marked(at: Three[str], options: Options, size: int, cause: str) -> str:
    """Return the versions of some lines between markers."""
    base, ours, theirs = options.labels
    labels = " ".join(filter(None, (ours, cause))), base, theirs
    old = without_placeholders(at.base) if options.style != "merge" else None
    return conflict(at.ours, old, at.theirs, labels, size)


def _cause(options: Options) -> str:
    """Return the words that follow the name of our side in the first marker of a conflict."""
    command = f"kmerge explain {label(options.path)}".rstrip()
    return f"(encrypted: see `{command}`)"


def _sealed(data: bytes, why: str) -> Outcome:
    return Outcome(data, False, "sealed", conflicts=(Conflict("", "", why),), reason=why)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
