"""The jobs that docs/team.md shows for merges in a pull request do what they say."""

from __future__ import annotations

import pytest
import yaml
from test_check_staged import put_on_path
from test_check_ways import BASE, BOTH, LOST, OURS, THEIRS
from world import ROOT, Repo, World

PAGE = (ROOT / "docs" / "team.md").read_text()


def job(start: str) -> dict[str, object]:
    """The YAML of a fenced block that starts with a line."""
    block = PAGE[PAGE.index(start) :]
    found = yaml.safe_load(block[: block.index("```")])
    assert isinstance(found, dict)
    return found


VARIABLE = "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"


def gitlab() -> str:
    script = job("# GitLab\n")["merge-damage"]["script"]  # type: ignore[index]
    return "\n".join(script)


@pytest.mark.world
@pytest.mark.parametrize("text, code", [(BOTH, 0), (LOST, 1)])
def test_damage_in_a_request_is_found(repo: Repo, world: World, text: str, code: int) -> None:
    put_on_path(world)
    repo.fork({"web.yaml": BASE}, {"web.yaml": OURS}, {"web.yaml": THEIRS})
    repo.switch("side")
    repo.git("merge", "main", check=False)
    repo.commit("merged by hand", {"web.yaml": text})
    repo.commit("more", {"b.yaml": "a: 1\n"})
    runner = Repo(world, world.root / "runner")
    repo.git("clone", "-q", ".", runner.path)
    runner.git("checkout", "-q", "--detach", "origin/side")
    done = world.run(
        "sh", "-ec", gitlab(), cwd=runner.path, env={"CI": "true", VARIABLE: "main"}, check=False
    )
    assert done.code == code, done.said
    assert ("M21" in done.said) == bool(code)
