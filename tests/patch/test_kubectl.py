"""The same question to kubectl and to us. kubectl is the one on PATH, against no cluster.

KMERGE_SEED starts the generators somewhere else; a failure prints the seed of its case.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from depth import part

from kmerge_git.errors import PatchError
from kmerge_git.patch.apply_config import plan_apply
from kmerge_git.patch.apply_patch import apply_patch
from kmerge_git.patch.make_patch import make_patch
from kmerge_git.patch.patch_schema import Schema

from .api_server import ApiServer
from .generated import KINDS, make_object, make_patch_for
from .triples import make_triple

pytestmark = pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not on PATH")

SEED = int(os.environ.get("KMERGE_SEED", "0"))
PAIRS, OBJECTS = 300, 5  # one kubectl process patches five objects


def test_500_generated_patches_give_what_kubectl_gives(tmp_path):
    seeds = part(range(SEED, SEED + PAIRS // OBJECTS))
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda seed: compare(seed, tmp_path), seeds))
    wrong = [line for lines, _ in done for line in lines]
    assert not wrong, "\n".join(wrong[:3])
    # Patches are mostly good: the comparison must not be one of errors alone.
    assert sum(patched for _, patched in done) > len(seeds) * OBJECTS / 2


def compare(seed, directory):
    """What differs, and how many objects kubectl patched."""
    rnd = Random(seed)
    kind = rnd.choice(list(KINDS))
    objects = [make_object(rnd, kind, f"o{n}", repeats=seed % 4 == 0) for n in range(OBJECTS)]
    patch = make_patch_for(rnd, kind)
    theirs = kubectl_patch(objects, patch, directory / str(seed))
    wrong = []
    for target in objects:
        ours = our_patch(target, patch)
        if ours != theirs.get(target["metadata"]["name"]):
            case = {"seed": seed, "object": target, "patch": patch, "ours": ours}
            wrong.append(json.dumps({**case, "kubectl": theirs.get(target["metadata"]["name"])}))
    return wrong, len(theirs)


def our_patch(target, patch):
    schema = Schema.builtin(target["apiVersion"], target["kind"], complete=True)
    try:
        return apply_patch(target, patch, schema)
    except PatchError:
        return None


def kubectl_patch(objects, patch, directory):
    """Name -> the patched object; what kubectl refuses is missing."""
    directory.mkdir()
    targets, file = directory / "objects.json", directory / "patch.json"
    targets.write_text("\n".join("---\n" + json.dumps(o) for o in objects), "utf-8")
    file.write_text(json.dumps(patch), "utf-8")
    command = ["kubectl", "patch", "--local", "--type=strategic", "-o", "json"]
    done = subprocess.run(
        [*command, "-f", str(targets), "--patch-file", str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if "panic:" in done.stderr and len(objects) > 1:  # one object takes the others with it
        alone = (kubectl_patch([o], patch, directory / str(n)) for n, o in enumerate(objects))
        return {name: value for one in alone for name, value in one.items()}
    found, text, decoder = {}, done.stdout.strip(), json.JSONDecoder()
    while text:
        value, end = decoder.raw_decode(text)
        found[value["metadata"]["name"]] = value
        text = text[end:].strip()
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with ApiServer(Path(tmp_path_factory.mktemp("kubectl"))) as running:
        yield running


def test_apply_sends_what_kubectl_apply_sends(server):
    for seed in part(range(SEED, SEED + 40)):
        _, config, live = make_triple(Random(seed))
        theirs = server.apply(config, live)
        try:
            ours = plan_apply(config, live).patch
        except PatchError:
            ours = None
        assert ours == theirs, f"seed {seed}"


def test_a_new_object_is_created_as_kubectl_creates_it(server):
    for seed in range(SEED, SEED + 5):
        _, config, _ = make_triple(Random(seed))
        assert plan_apply(config, {}).result == server.apply(config, None), f"seed {seed}"


@pytest.mark.parametrize(
    "spec",
    [
        {"text": '<&>\u2028\u2029\u00e9\U0001f600\b\f\n\t\x7f\x01"\\/'},
        {"a": 1.0, "b": 1e21, "c": 12345678901234567890123, "d": 1e-7, "f": 0.000001, "g": 1.5e9},
        {"h": 123456789.5, "i": -1e-9, "j": 1e20, "k": -0.0, "l": 9223372036854775807},
        {"none": None, "list": [None, {"a": None, "b": [{"c": None}]}], "empty": {}},
    ],
)
def test_the_annotation_is_written_byte_for_byte(server, spec):
    config = {"apiVersion": "example.com/v1", "kind": "Foo", "spec": spec}
    config["metadata"] = {"name": "x", "namespace": "default"}
    ours, theirs = plan_apply(config, {}).result, server.apply(config, None)
    assert ours["metadata"] == theirs["metadata"]
    assert ours["spec"].keys() == theirs["spec"].keys()


def test_a_two_way_patch_is_that_of_kubectl_edit(server):
    for seed in part(range(SEED, SEED + 25)):
        rnd = Random(seed)
        kind = rnd.choice(list(KINDS))
        original, modified = make_object(rnd, kind), make_object(rnd, kind)
        for side in (original, modified):
            side["metadata"] |= {"namespace": "default", "uid": "1"}
        assert make_patch(original, modified) == server.edit(original, modified), f"seed {seed}"
