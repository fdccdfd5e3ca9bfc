"""What the documentation says is so: commands and their flags, links, the table of lists, examples."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest
import yaml

from kmerge_git.cli.main import COMMANDS, actions_of, line_parser, shown
from kmerge_git.kube.crds import crd_list_keys
from kmerge_git.kube.listkeys import Where, start
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

ROOT = Path(__file__).parent.parent
TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES = [*TOP, *sorted((ROOT / "docs").glob("*.md"))]
assert len(PAGES) > 8, "no documentation found"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = page.read_text()
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {*re.findall(r"<a id=\"?([^\"> ]+)", text)} | {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_where_to_look_names_files_that_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert "\n## Where to look\n" in text
    named = re.findall(r"`((?:\w+/)*\w+\.py)`", text)
    assert len(named) > 50
    roots = [ROOT, ROOT / "kmerge_git", ROOT / "kmerge_git" / "merge"]
    assert [name for name in named if not any((root / name).is_file() for root in roots)] == []


def test_the_readme_is_one_page() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 1000


def test_the_reference_leads_to_every_page() -> None:
    assert "(docs/README.md)" in (ROOT / "README.md").read_text()
    text = (ROOT / "docs" / "README.md").read_text()
    pages = {p.name for p in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert [name for name in sorted(pages) if f"({name})" not in text] == []


def test_the_reference_names_every_command() -> None:
    text = (ROOT / "docs" / "README.md").read_text()
    assert [name for name in COMMANDS if f"`kmerge {name}" not in text] == []


# what all have; `kmerge --help` tells of it
COMMON = {"-h", "--help", "-v", "--verbose"}


def flags(command: str) -> set[str]:
    return flags_of(dict(actions_of(line_parser(command)))[command])


def flags_of(parser: argparse.ArgumentParser) -> set[str]:
    """The flags of a parser and of its actions, but for old spellings."""
    found = {flag for action in shown(parser) for flag in action.option_strings}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found = found.union(*map(flags_of, action.choices.values()))
    return found


def calls(text: str) -> list[str]:
    """What a page shows of `kmerge COMMAND ...`, in code."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, re.M | re.S)
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    code = [line.partition(" #")[0] for block in blocks for line in block.splitlines()]
    spans = [span.replace("\n", " ") for span in re.findall(r"`([^`]+)`", prose)]
    code += [span for span in spans if span.startswith(("kmerge ", "git kmerge "))]
    return [found for line in code for found in re.findall(r"\bkmerge ([a-z].*)", line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_and_their_flags_exist(page: Path) -> None:
    for call in calls(page.read_text()):
        words = re.split(r"[\s;&|)]+", call)
        assert words[0] in {*COMMANDS, "solve", "help"}, call
        used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert not used or used <= flags(words[0]), call


@pytest.mark.parametrize(
    "command, name", [("vendor", "vendoring"), ("merge2", "merge-rules"), ("merge3", "merge-rules")]
)
def test_a_page_names_every_flag_of_its_command(command: str, name: str) -> None:
    text = (ROOT / "docs" / f"{name}.md").read_text()
    assert [flag for flag in flags(command) - COMMON if f"`{flag}" not in text] == []


def place(version: str, kind: str, steps: list[str]) -> Where:
    """The place that a path of the table leads to."""
    (document,) = split(Source.of(f"apiVersion: {version}\nkind: {kind}\n")).documents
    where = start(document.root)
    for step in steps:
        where = where.child(step.removesuffix("[]"))
        where = where.items() if step.endswith("[]") else where
    return where


LISTS = re.findall(
    r"^\| `(\S+) (\w+)` \| `(\S+)` \| (.+) \|$", (ROOT / "docs" / "list-keys.md").read_text(), re.M
)
assert len(LISTS) > 30, "no table found"


@pytest.mark.parametrize("version, kind, path, said", LISTS)
def test_the_table_of_lists(version: str, kind: str, path: str, said: str) -> None:
    rule = place(version, kind, path.split(".")).list_rule()
    spelled = ", ".join(f"`{name}`" for name in rule.fields)
    for name, value in rule.defaults.items():
        spelled = spelled.replace(f"`{name}`", f"`{name}` ({value})")
    assert said == {"set": "set", "atomic": "no key"}.get(rule.kind, spelled)


def test_the_definition_of_a_custom_resource() -> None:
    text = (ROOT / "docs" / "list-keys.md").read_text()
    (lists,) = re.findall(r"```yaml\n(.*?)```", text, re.S)
    schema = {"openAPIV3Schema": {"properties": yaml.safe_load(lists)}}
    spec = {"group": "a.b", "names": {"kind": "X"}, "versions": [{"schema": schema}]}
    found = crd_list_keys({"kind": "CustomResourceDefinition", "spec": spec})
    backends = {"list": True, "keys": ("host", "port"), "defaults": {"port": 80}}
    assert found == {("a.b", "X"): {"backends": backends}}


EXAMPLES = [
    (page.name, code)
    for page in PAGES
    if page.name != "programs.md"  # a program, which tests/git/test_programs_docs.py runs
    for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
]
assert {name for name, _ in EXAMPLES} >= {"api.md", "strategic-merge-patch.md"}
assert len(EXAMPLES) > 7, "no examples found"


@pytest.mark.parametrize("page, code", EXAMPLES, ids=lambda text: text.split("\n")[0])
def test_the_examples_run(page: str, code: str) -> None:
    assert "assert " in code
    exec(compile(code, page, "exec"), {"__name__": "example"})


def test_the_page_names_every_public_name() -> None:
    import kmerge_git

    text = (ROOT / "docs" / "api.md").read_text()
    assert [name for name in kmerge_git.__all__ if f"`{name}" not in text] == []
