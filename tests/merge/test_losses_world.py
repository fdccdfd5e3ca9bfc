"""Every trio of small values in one place under rules `kyaml`: what dest loses is told, no more.

The truth comes from the values: leaves of dest that original does not have so must be in the
result, or a loss names their place. A null of dest in the place of a value is the wish to clear it.
"""

import json
from itertools import product

import pytest
import yaml
from depth import part

from kmerge_git.merge.kyaml.kyaml_merges import Result, merge3_bytes
from kmerge_git.merge.three import Three

ABSENT = "absent"
VALUES = [
    ABSENT,
    None,
    1,
    2,
    {},
    {"a": 1},
    {"a": 2},
    {"a": None},
    {"a": 1, "b": None},
    {"a": {"c": None}},
    [],
    [1],
    [{"name": "x"}],
    [{"name": "x", "v": 1}],
    [{"name": "x", "v": None}],
    [{"name": "x", "v": 2}, {"name": "y", "v": None}],
]
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# how it is spelled, and what stands beside the place in dest and original, and in updated
WORLDS = {
    "beside a change, in lines": (False, {"z": 1}, {"z": 2}),
    "alone, in braces": (True, {}, {}),
}


def spell(value: object, around: dict, *, flow: bool) -> bytes:
    made = around if value is ABSENT else {"k": value, **around}
    return (json.dumps(made) if flow else block(made, 0) or "{}\n").encode()


def block(value: object, column: int) -> str:
    """YAML in lines, without a library that could share our mistakes."""
    pad = " " * column
    if isinstance(value, dict) and value:
        return "".join(f"{pad}{k}:{below(v, column)}" for k, v in value.items())
    if isinstance(value, list) and value:
        return "".join(
            f"{pad}- {block(v, column + 2).lstrip()}" if v else f"{pad}- {json.dumps(v)}\n"
            for v in value
        )
    return "" if not column else f"{pad}{json.dumps(value)}\n"


def below(value: object, column: int) -> str:
    if isinstance(value, dict | list) and value:
        return "\n" + block(value, column + 2)
    return f" {json.dumps(value)}\n"


def read(data: bytes) -> dict[tuple[str, ...], str]:
    return nodes(yaml.load(data, LOADER) or {})


def nodes(value: object, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """What stands in every place: a kind of collection, or a value; a list without keys is one."""
    if isinstance(value, dict):
        parts = [(name, part) for name, part in value.items()]
    elif isinstance(value, list) and all(isinstance(v, dict) for v in value):
        parts = [(f"[name={element['name']}]", element) for element in value]
    else:
        return {path: json.dumps(value)}
    found = {path: "map" if isinstance(value, dict) else "list"}
    for name, inner in parts:
        found |= nodes(inner, (*path, name))
    return found


def shown(path: tuple[str, ...]) -> str:
    return ".".join(path).replace(".[", "[")


def work(at: Three[dict]) -> dict[tuple[str, ...], str]:
    """Dest without the nulls that only mean that what original has there is to go."""
    cleared = {p for p, node in at.ours.items() if node == "null" and p in at.base}
    return {p: node for p, node in at.ours.items() if p not in cleared or at.base[p] == "null"}


def missing(at: Three[dict], result: dict) -> set[str]:
    """The places where dest's work is not in the result."""
    base, ours = at.base, work(at)
    changed = {path for path in base.keys() | ours.keys() if base.get(path) != ours.get(path)}
    return {shown(path) for path in changed if ours.get(path) != result.get(path)}


def clears(path: tuple[str, ...], at: Three[dict]) -> bool:
    """Whether a null of updated is a change: in the place of a value, or alone in a map."""
    if at.theirs[path] != "null" or at.base.get(path) == "null":
        return False
    around = at.base.get(path[:-1]), at.theirs.get(path[:-1])
    return path in at.base or around == ("map", "map")


def is_lost(place: str, at: Three[dict], result: dict) -> bool:
    """Whether dest changed something below a place, and has lost something below it."""
    base, ours, now = (
        {path: node for path, node in found.items() if touches(shown(path), place)}
        for found in (at.base, work(at), result)
    )
    return ours not in (base, now)


def touches(a: str, b: str) -> bool:
    """Whether one of two places is, or lies in, the other."""
    if len(a) > len(b):
        a, b = b, a
    return not a or a == b or b.startswith((f"{a}.", f"{a}["))


@pytest.fixture(scope="module", params=WORLDS)
def world(request: pytest.FixtureRequest) -> list[tuple[Three[bytes], Result]]:
    flow, old, new = WORLDS[request.param]
    trios = (
        Three(spell(o, old, flow=flow), spell(d, old, flow=flow), spell(u, new, flow=flow))
        for o, d, u in part(product(VALUES, repeat=3))
    )
    return [(texts, merge3_bytes(texts)) for texts in trios]


def failing(found: list[tuple]) -> str:
    return f"{len(found)} wrong\n" + "\n".join(map(str, found[:20]))


def test_what_dest_loses_is_told_and_nothing_else(world):
    wrong = []
    for texts, result in world:
        at, now = texts.map(read), read(result.data)
        lost = {d.path for d in result.lost if d.side == "theirs"}
        silent = {p for p in missing(at, now) if not any(touches(p, q) for q in lost)}
        invented = {p for p in lost if not is_lost(p, at, now)}
        if silent or invented:
            wrong.append((*texts.each(), result.data, silent, invented))
    assert not wrong, failing(wrong)


def test_what_updated_changed_is_there_or_told(world):
    """Only a null of dest keeps updated's change away, or a place that dest took away."""
    wrong = []
    for texts, result in world:
        at, now = texts.map(read), read(result.data)
        told = {d.path for d in result.lost}
        for path, node in at.theirs.items():
            if node in (at.base.get(path), now.get(path)) or node == "null":
                continue
            if not any(touches(shown(path), place) for place in told):
                wrong.append((*texts.each(), result.data, path))
    assert not wrong, failing(wrong)


def test_a_null_that_nobody_changed_stays(world):
    wrong = []
    for texts, result in world:
        at, now = texts.map(read), read(result.data)
        for path, node in at.base.items():
            mine, yours = at.ours.get(path), at.theirs.get(path)
            is_wrong = node == yours == "null" and mine not in (None, now.get(path))
            if is_wrong or (node == mine == "null" and now.get(path) != yours):
                wrong.append((*texts.each(), result.data, path))
    assert not wrong, failing(wrong)


def test_what_one_side_alone_changed_is_the_result(world):
    for texts, result in world:
        at, now = texts.map(read), read(result.data)
        if at.ours == at.base:
            wanted = {p: node for p, node in at.theirs.items() if not clears(p, at)}
            assert now == wanted, (*texts.each(), result.data)
        if texts.theirs == texts.base:
            assert now == work(at), (*texts.each(), result.data)


def test_a_second_time_changes_nothing(world):
    """Unless dest's null kept a change of updated away: seen again, it is only not there."""
    wrong = []
    for texts, result in world:
        if any(d.side == "ours" for d in result.lost):
            continue
        again = merge3_bytes(Three(texts.base, result.data, texts.theirs)).data
        if again != result.data:
            wrong.append((*texts.each(), result.data, again))
    assert not wrong, failing(wrong)
