"""Upstream's behaviour on 300 inputs: ours never crashes, loses no alias, retypes no scalar.

`vectors/merge_probes.json` says what kyaml and kpt make of each input. Of class `baseline` ours has
the same data, or the table of `vectors/merge_probes.md` has the reason.
"""

import json
from pathlib import Path

import pytest
import yaml

from kmerge_git.errors import KmergeError
from kmerge_git.merge.kyaml.kyaml_merges import merge3_bytes
from kmerge_git.merge.kyaml.two_way import merge2_bytes
from kmerge_git.merge.three import Three

PROBES = json.loads((Path(__file__).parent / "vectors" / "merge_probes.json").read_text())["cases"]
DOCS = Path(__file__).parent / "vectors" / "merge_probes.md"
# Inputs that are refused: merge2 has no third version to merge lines with.
REFUSED = {"merge2/patch-bad"}


def texts(probe: dict) -> dict[str, str]:
    names = ("src", "dest") if probe["mode"] == "merge2" else ("original", "updated", "dest")
    return {name: probe[name] for name in names}


def result(probe: dict) -> str:
    options = {k: v for k, v in probe.get("options", {}).items() if k == "prepend"}
    given = {name: text.encode() for name, text in texts(probe).items()}
    if probe["mode"] == "merge2":
        return merge2_bytes(given["src"], given["dest"], **options).data.decode()
    at = Three(given["original"], given["dest"], given["updated"])
    return merge3_bytes(at).data.decode()


def merged(probe: dict) -> str:
    try:
        return result(probe)
    except KmergeError:
        if probe["id"] not in REFUSED:
            raise
        pytest.skip("refused, see test_only_bad_input_is_refused")


def load(text: str) -> list[object]:
    return [plain(d) for d in yaml.compose_all(text) if d is not None]


def plain(node: yaml.Node) -> object:
    """Values by the kind that a YAML 1.1 reader sees; aliases are followed, keys have no order."""
    if isinstance(node, yaml.MappingNode):
        return {str(plain(k)): plain(v) for k, v in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [plain(v) for v in node.value]
    return node.tag, node.value


def scalars(text: str) -> set[tuple[str, str]]:
    found = set()
    todo = [d for d in yaml.compose_all(text) if d is not None]
    while todo:
        node = todo.pop()
        if isinstance(node, yaml.MappingNode):
            todo += [n for pair in node.value for n in pair]
        elif isinstance(node, yaml.SequenceNode):
            todo += node.value
        else:
            found.add((node.tag, node.value))
    return found


def aliases(text: str) -> set[str]:
    return {e.anchor for e in yaml.parse(text) if isinstance(e, yaml.AliasEvent)}


def readable(probe: dict) -> bool:
    try:
        for text in texts(probe).values():
            load(text)
    except yaml.YAMLError:
        return False
    return True


def name(probe: dict) -> str:
    return probe["id"]


EVERY = pytest.mark.parametrize("probe", PROBES, ids=name)


def test_only_bad_input_is_refused():
    (bad,) = [p for p in PROBES if p["id"] in REFUSED]
    with pytest.raises(KmergeError, match="directive"):
        result(bad)


@pytest.mark.world
@EVERY
def test_no_crash_no_alias_lost_no_scalar_retyped(probe):
    text = merged(probe)
    if not readable(probe):
        return
    before = texts(probe)
    known = set().union(*(scalars(t) for t in before.values()))
    assert scalars(text) <= known
    dropped = aliases(before["dest"]) - aliases(text)
    assert not dropped or probe["id"] == "merge3/alias-scalar-changed-to-value"


@EVERY
def test_identical_inputs_come_back(probe):
    for text in texts(probe).values():
        data = text.encode()
        assert merge3_bytes(Three(data, data, data)).data == data


def differences() -> dict[str, str]:
    """The table of vectors/merge_probes.md: probe -> why ours differs."""
    rows = {}
    for line in DOCS.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 2 and cells[0].startswith(("`merge2/", "`merge3/", "`file3/")):
            rows[cells[0].strip("`")] = cells[1]
    return rows


@pytest.mark.parametrize("probe", [p for p in PROBES if p["class"] == "baseline"], ids=name)
def test_baseline_has_kyamls_data_or_a_reason(probe):
    recorded = probe.get("kyaml_does", {}).get("out")
    if recorded is None:
        assert merged(probe)
        return
    same = load(merged(probe)) == load(recorded)
    if probe["id"] in differences():
        assert not same, "the reason in vectors/merge_probes.md is out of date"
    else:
        assert same, merged(probe)


def test_the_reasons_name_probes():
    baseline = {p["id"] for p in PROBES if p["class"] == "baseline"}
    assert differences()
    assert set(differences()) <= baseline
    assert all(differences().values())
