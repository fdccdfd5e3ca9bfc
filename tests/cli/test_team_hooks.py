"""Hooks for `.pre-commit-config.yaml`: inserted lines, and no other byte of the file changes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from kmerge_git.cli import team_hooks
from kmerge_git.cli.team_hooks import HOOKS, HookSource, hook_source, plan_team_hooks
from kmerge_git.errors import KmergeError, UsageError

HERE = HookSource("https://git.example.com/kmerge-git", "v0.1.0")
ALL = "default_install_hook_types: [pre-commit, pre-merge-commit, pre-push, post-checkout]\n"
WIDE = """\
-   repo: https://git.example.com/kmerge-git
    rev: v0.1.0
    hooks:
    -   id: kmerge-check
    -   id: kmerge-merge
    -   id: kmerge-installed
    -   id: kmerge-register
"""
NARROW = WIDE.replace("-   ", "- ").replace("    ", "  ")
DEEP = "".join(
    f"  {'  ' if line.lstrip().startswith('- id') else ''}{line}\n" for line in NARROW.splitlines()
)
SAMPLE = """\
# See https://pre-commit.com for more information
default_stages: [pre-commit]
{}repos:
-   repo: https://github.com/pre-commit/pre-commit-hooks
    rev: v3.2.0
    hooks:
    -   id: trailing-whitespace
        args: [a]  # why
    -   id: check-yaml
        exclude: |
          a

          b
    # -   id: end-of-file-fixer

{}# the rest
ci: {{skip: [x]}}
"""
OWN = """\
repos:
- repo: https://git.example.com/a-fork
  rev: v0.0.9
  hooks:
  -   id: kmerge-check
      verbose: true
{}"""

EDITS = {
    "nothing": ("", ALL + "repos:\n" + DEEP),
    "comments": ("# ours\n# more\n", "# ours\n# more\n" + ALL + "repos:\n" + DEEP),
    "the sample": (SAMPLE.format("", ""), SAMPLE.format(ALL, "").replace("\n\n# the", f"\n{WIDE}\n# the")),
    "an own entry": (
        OWN.format(""),
        ALL + OWN.format("".join(f"  -   id: {name}\n" for name in HOOKS[1:])),
    ),
    "types in brackets": (
        "default_stages: [manual]\ndefault_install_hook_types: ['pre-push', \"pre-commit\"]  # c\nrepos:\n- repo: meta\n  hooks:\n  - id: identity\n",
        "default_stages: [manual]\ndefault_install_hook_types: ['pre-push', \"pre-commit\", pre-merge-commit, post-checkout]  # c\nrepos:\n- repo: meta\n  hooks:\n  - id: identity\n"
        + NARROW,
    ),
    "types as a list": (
        "default_stages: [manual]\ndefault_install_hook_types:\n  - pre-commit\n  # more\n  - commit-msg\nrepos:\n  - repo: meta\n    hooks: [{id: identity}]\n",
        "default_stages: [manual]\ndefault_install_hook_types:\n  - pre-commit\n  # more\n  - commit-msg\n"
        "  - pre-merge-commit\n  - pre-push\n  - post-checkout\n"
        "repos:\n  - repo: meta\n    hooks: [{id: identity}]\n" + DEEP,
    ),
    "all types": (ALL + "repos:\n- repo: meta\n  hooks:\n  - id: identity\n", ALL + "repos:\n- repo: meta\n  hooks:\n  - id: identity\n" + NARROW),
    "hooks of another place": (
        ALL + "repos:\n- repo: local\n  hooks: [{id: kmerge-check, name: a, entry: a, language: system}]\n- repo: https://git.example.com/kmerge-git\n  rev: x\n  hooks:\n  - id: x\n",
        ALL + "repos:\n- repo: local\n  hooks: [{id: kmerge-check, name: a, entry: a, language: system}]\n- repo: https://git.example.com/kmerge-git\n  rev: x\n  hooks:\n  - id: x\n"
        + "".join(f"  - id: {name}\n" for name in HOOKS[1:]),
    ),
    "others with stages": ("repos:\n- repo: meta\n  hooks:\n  - {id: identity, stages: [manual]}\n", ALL + "repos:\n- repo: meta\n  hooks:\n  - {id: identity, stages: [manual]}\n" + NARROW),
    "hooks of a local repository": (
        ALL + "repos:\n- repo: local\n  hooks:\n  - id: kmerge-check\n    entry: kmerge check\n    name: x\n    language: system\n",
        ALL + "repos:\n- repo: local\n  hooks:\n  - id: kmerge-check\n    entry: kmerge check\n    name: x\n    language: system\n" + NARROW.replace("  - id: kmerge-check\n", ""),
    ),
}  # fmt: skip


def ends(before: str, after: str) -> list[tuple[str, str]]:
    """The same with other line ends, without the last one, and with a byte order mark."""
    texts = (
        [(before, after), (before.removesuffix("\n"), after.removesuffix("\n"))]
        if before
        else [(before, after)]
    )
    texts += [(a.replace("\n", "\r\n"), b.replace("\n", "\r\n")) for a, b in texts if before]
    return texts + [
        ("\ufeff" + a, "\ufeff" + b) for a, b in texts if a.startswith("#") or a[:1] == "d"
    ]


@pytest.mark.parametrize("name", EDITS)
def test_lines_are_inserted(name: str) -> None:
    for before, after in ends(*EDITS[name]):
        edited, _ = team_hooks.with_hooks(before, HERE)
        assert edited == after
        assert team_hooks.with_hooks(edited, HERE) == (edited, [])
    # pre-commit itself can read it
    from cfgv import validate
    from pre_commit.clientlib import CONFIG_SCHEMA

    validate(yaml.safe_load(edited), CONFIG_SCHEMA)


def test_an_own_entry_needs_no_source_and_tells_of_its_rev() -> None:
    text, notes = team_hooks.with_hooks(OWN.format(""), None)
    assert "kmerge-register" in text
    (note,) = notes
    assert note.startswith(
        "kmerge-merge, kmerge-installed, kmerge-register: these hooks need a `rev` of"
    )


STAGED = "repos:\n- repo: meta\n  hooks:\n  - id: a\n    stages: [manual]\n"
UNSAFE = {
    "flow": ("repos: [{repo: meta, hooks: [{id: a}]}]\n", "`repos` is not a plain block list"),
    "all in flow": ("{repos: []}\n", "`repos` is not a plain block list"),
    "an anchor": ("repos: &x\n" + STAGED.partition("\n")[2], "`repos` is not a plain block list"),
    "twice": (STAGED + STAGED, ""),
    "a list": ("- a\n", "not a single mapping with a list `repos`"),
    "another key": ("ci: {}\n", "not a single mapping with a list `repos`"),
    "a marker": ("# a\n---\n", "not a single mapping with a list `repos`"),
    "two documents": (STAGED + "---\na: b\n", "not a single mapping with a list `repos`"),
    "no YAML": ("repos: [\n", ""),
    "no text": ("a: \udcff\n", "not UTF-8"),
    "no types": ("default_install_hook_types: []\n" + STAGED, "not a list, or is empty"),
    "types that are a word": ("default_install_hook_types: pre-push\n" + STAGED, "not a list"),
    "an alias for types": (STAGED.replace("[manual]", "&t [manual]") + "default_install_hook_types: *t\n", "not a list"),
    "own hooks in flow": (OWN.format("").partition("  hooks")[0] + "  hooks: [{id: kmerge-check}]\n", "not a block list"),
    "an alias for hooks": (STAGED.replace("hooks:", "hooks: &h") + "- repo: https://git.example.com/kmerge-git\n  rev: x\n  hooks: *h\n", "not a block list"),
    "hooks without stages": ("repos:\n- repo: meta\n  hooks:\n  - id: a\n", "hooks without `stages` (a) would also run at pre-merge-commit, pre-push, post-checkout"),
    "more of them": (ALL.replace(", post-checkout", "") + "repos:\n- repo: meta\n  hooks:\n  - id: a\n  - id: b\n  - id: c\n  - id: d\n", "(a, b, c, ...) would also run at post-checkout"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSAFE)
def test_what_is_not_safe_is_printed_instead(name: str, tmp_path: Path) -> None:
    text, why = UNSAFE[name]
    path = tmp_path / ".pre-commit-config.yaml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    plan, lines = plan_team_hooks(tmp_path, HERE)
    assert plan.changes == ()
    (note,) = plan.notes
    assert note.startswith(f"no hooks were written to {path}: ")
    assert why in note
    assert note.endswith("; add these lines:")
    assert "\n".join((*lines, "")) == ALL + "repos:\n" + DEEP


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".pre-commit-config.yaml").symlink_to("elsewhere")
    plan, _ = plan_team_hooks(tmp_path, HERE)
    assert (plan.changes, "a symbolic link" in plan.notes[0]) == ((), True)


def test_every_edit_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team_hooks, "dump", lambda value: "url: x\n")
    with pytest.raises(KmergeError, match="cannot edit the file safely"):
        team_hooks.with_hooks(STAGED, HERE)


@pytest.mark.parametrize("word", ["1.10", "true", "'x", "a: b", "v1 #x", "0x1"])
def test_odd_words_are_quoted(word: str) -> None:
    text, _ = team_hooks.with_hooks("", HookSource("x", word))
    assert yaml.safe_load(text)["repos"][0]["rev"] == word


@pytest.mark.parametrize(
    "given, url, rev",
    [
        ("/srv/kmerge git@HEAD", "", ""),
        ("/srv/kmerge-git@HEAD", "/srv/kmerge-git", "HEAD"),
        ("git@example.com:a/b@feature/x", "git@example.com:a/b", "feature/x"),
        ("git@example.com:a/b", "", ""),
        ("https://example.com/a", "", ""),
        ("https://example.com/a@", "", ""),
        ("@v1", "", ""),
        ("a@-v1", "", ""),
        ("-a@v1", "", ""),
    ],
)
def test_a_source_that_is_given(given: str, url: str, rev: str) -> None:
    if rev:
        assert hook_source(given) == HookSource(url, rev)
    else:
        with pytest.raises(UsageError, match="--hooks-from must be URL@REV"):
            hook_source(given)


def test_a_release_knows_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team_hooks, "version_line", lambda: "kmerge 0.1.0")
    assert hook_source("") is None  # the address is not set
    monkeypatch.setattr(team_hooks, "SOURCE", HERE.url)
    assert hook_source("") == HERE
    monkeypatch.setattr(team_hooks, "version_line", lambda: "kmerge 0.1.0 (from a checkout, 1)")
    assert hook_source("") is None
