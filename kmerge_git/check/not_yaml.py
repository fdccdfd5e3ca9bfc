"""Recognise texts that are intentionally not YAML, such as templates and JSON with comments.

Most of these functions are called for files that could not be parsed.
"""

from __future__ import annotations

import re
from posixpath import basename, dirname

from kmerge_git.check.kustomize.kustomization import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


# A template tool replaces placeholders; each pattern has the name of its kind of template. The
# lengths are limited because a line of many brackets that never close would take minutes.
PLACEHOLDERS = (
    (r"\{\{.{,500}?\}\}", "{{ }}"),
    (r"\{#.{,500}?#\}", "{# #}"),
    (r"<%.{,500}?%>", "<% %>"),
    (r"\[\[-?\s*[.$\w].{,200}?\]\]", "[[ ]]"),
    (r"@@?[A-Za-z_][\w.-]*@@?", "@NAME@"),
    (r"%%?[A-Za-z_]\w*%%?", "%NAME%"),
    (r"%\{.{,500}?\}", "%{ }"),
    (r"\$?\{[A-Za-z_][\w.:-]*\}", "{NAME}"),
)
# A line that is only a statement of a template: it is removed before the rest is parsed.
STATEMENT = r"(?m)^[ \t]*(?:\{%.*%\}|\{\{.*\}\}|<%.*%>|\{#.*#\}|\[%.*%\]|%\{.*\})[ \t]*$"
# The beginnings of statements, each with the name of the kind of template.
OPENERS = (("{%", "{% %}"), ("<%", "<% %>"), ("{{", "{{ }}"), ("[%", "[% %]"), ("%{", "%{ }"))
IN_TEMPLATES = "a template in a folder templates/"
WITH_ACTIONS = "a template with {{ }}"
OPENING = ("if", "range", "with", "for", "unless", "foreach")


def reason(text: str, path: str, parses: Callable[[str], bool], before: str | None) -> str:
    """If a text is intentionally not YAML, return the reason; if it is broken YAML, return ''.

    `before` is the version in HEAD if that version can be parsed, otherwise None.
    """
    return _of_json(text) or _of_template(text, path, parses, before)


def _of_template(text: str, path: str, parses: Callable[[str], bool], before: str | None) -> str:
    is_new = before is None or has_action(text)
    if "{{" in text and is_new and "templates" in dirname(path).split("/"):
        return IN_TEMPLATES
    filled, name = _filled(text)
    if name and parses(filled):
        return f"a template with {name}"
    # what statements leave may not be YAML; but a file that was YAML before should still be
    for mark, is_one, shown in (("{{", has_action, "{{ }}"), ("{%", has_statement, "{% %}")):
        if mark in text and is_one(text) and (before is None or not is_one(before)):
            return f"a template with {shown}"
    return ""


def _filled(text: str) -> tuple[str, str]:
    """Replace each placeholder in a text by a word; return the text and the kind of template."""
    bare, first = text, ""
    if any(mark in text for mark, _ in OPENERS):
        bare = re.sub(STATEMENT, "", text)
        bare = re.sub(r"\{%.{,500}?%\}", "", bare)
        if bare != text:
            first = next(name for mark, name in OPENERS if mark in text)
    for pattern, name in PLACEHOLDERS:
        new = re.sub(pattern, "x", bare)
        first = first or (name if new != bare else "")
        bare = new
    return bare, first


def has_action(text: str) -> bool:
    """Return whether a text has a `{{` outside of quotes, which makes the text a template."""
    return any(_is_action(line) for line in text.split("\n") if "{{" in line)


def has_statement(text: str) -> bool:
    """Return whether a text has a `{%` outside of quotes."""
    return any(not _in_quotes(x, "{%") for x in text.split("\n") if "{%" in x)


def _is_action(line: str) -> bool:
    bare = re.sub(r"^(?:(?:-(?= )|#)\s*)+", "", line.strip())  # without dashes and `#`
    if bare.startswith("{{"):
        return True
    key, colon, value = bare.partition(": ")
    if colon and '"' not in key and "'" not in key:
        value = value.lstrip()
        return not value.startswith(('"', "'", "#")) and "{{" in value
    return "{{" in bare and not _in_quotes(bare, "{{")


def _in_quotes(text: str, mark: str) -> bool:
    before = text[: text.index(mark)]
    return before.count('"') % 2 == 1 or before.count("'") % 2 == 1


def is_steered(text: str) -> bool:
    """Return whether a template has statements in YAML comments, such as `# {{ if .x }}`."""
    if not any(mark in text for mark in ("{{", "{%", "#@", "#if", "#foreach", "# <%", "#<%")):
        return False
    words = [_statement(line.strip()) for line in text.split("\n") if line.lstrip()[:1] == "#"]
    return any(word in OPENING for word in words) and any(word[:3] == "end" for word in words)


def _statement(comment: str) -> str:
    """Return the first word of the template statement in a comment, or '' if there is none."""
    bare = comment[1:]
    if bare[:1] not in ("@", "i", "f", "e"):  # of ytt and of Velocity
        bare = bare.lstrip()
        if bare[:2] not in ("{{", "{%", "<%"):
            return ""
        bare = bare[2:]
    elif bare[:1] != "@" and not bare.startswith(("if(", "if (", "foreach(", "foreach (", "end")):
        return ""
    word = bare.lstrip("@-+ ").partition("(")[0].split()
    return word[0].rstrip(":") if word else ""


def _of_json(text: str) -> str:
    """If a text is JSON, return why it cannot be read as YAML; otherwise return ''."""
    start = text.lstrip()[:2]
    if start[:1] not in ("{", "[") and start not in ("//", "/*"):
        return ""
    import json  # late: few files cannot be parsed

    plain = _without_comments(text).strip()  # each comment becomes a blank
    decoder, position, count = json.JSONDecoder(strict=False), 0, 0
    while position < len(plain):
        try:
            _, position = decoder.raw_decode(plain, position)
        except (ValueError, RecursionError):
            return ""
        count += 1
        while plain[position : position + 1].isspace():
            position += 1
    if plain != text.strip():
        # no reader of manifests takes comments
        return "" if '"apiVersion"' in text else "JSON with comments"
    return "several JSON documents" if count > 1 else "JSON that is not valid YAML"


def _without_comments(text: str) -> str:
    """Remove the comments from a JSON text, and the commas before closing brackets."""
    string = r'("(?:[^"\\\n]|\\.)*+"?)'  # also a string that never ends, which is read once
    bare = re.sub(string + r"|//[^\n]*|/\*.{,5000}?\*/", _kept, text.lstrip(), flags=re.DOTALL)
    return re.sub(string + r"|,(?=\s*[}\]])", _kept, bare)


def _kept(part: re.Match[str]) -> str:
    return part[1] or " "


def is_filled_in(name: str) -> bool:
    """Return whether a name contains a placeholder, so that the final name is unknown."""
    return any(mark in name for mark in ("{{", "$", "{%", "<", "[[", "@", "%"))


def looks_like_a_manifest(text: str, path: str) -> bool:
    """Return whether a text that cannot be parsed seems to be a manifest."""
    if basename(path) in NAMES:
        return True
    marks = ("apiVersion:", '"apiVersion":')
    return any(
        line.lstrip(" \t-{").startswith(marks) for line in text.split("\n") if "apiV" in line
    )
