"""What a text looks like: a template that is no YAML until it is rendered; a manifest."""

from __future__ import annotations

from posixpath import basename, dirname

from kmerge_git.check.kustomization import NAMES


def is_template(text: str, path: str) -> bool:
    """Whether a text is a template: by its place in a chart, or by an action outside quotes."""
    if "{{" not in text:
        return False
    if "templates" in dirname(path).split("/"):
        return True
    return any(_is_action(line) for line in text.split("\n") if "{{" in line)


def _is_action(line: str) -> bool:
    bare = line.strip()
    while bare.startswith(("- ", "# ", "#")):
        bare = bare[1:].lstrip()
    if bare.startswith("{{"):
        return True
    key, colon, value = bare.partition(": ")
    if colon and '"' not in key and "'" not in key:
        value = value.lstrip()
        return not value.startswith(('"', "'", "#")) and "{{" in value
    return "{{" in bare and not _in_quotes(bare)


def _in_quotes(text: str) -> bool:
    before = text[: text.index("{{")]
    return before.count('"') % 2 == 1 or before.count("'") % 2 == 1


def looks_like_a_manifest(text: str, path: str) -> bool:
    """Whether a text that cannot be parsed was meant to be a manifest."""
    if basename(path) in NAMES:
        return True
    marks = ("apiVersion:", '"apiVersion":')
    return any(
        line.lstrip(" \t-{").startswith(marks) for line in text.split("\n") if "apiV" in line
    )
