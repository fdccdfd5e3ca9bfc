"""rerere recognises every conflict: git hashes the lines between our markers, in no order of sides."""

from __future__ import annotations

import pytest
from depth import part
from world import Driven, Repo

TAINTS = "kind: Pod\nmetadata:\n  name: web\nspec:\n  tolerations:\n{}  hostNetwork: true\n"
SERVICE = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {}\nspec:\n  selector:\n    app: {}\n"
MANY = "a: {}\nb: 1\nc: 1\nd: 1\ne: 1\nf: {}\ng: 1\nh: 1\ni: 1\nj: 1\nk:\n- x: {}\n  y: 1\n"
# base, ours and theirs; None where a side has no such file
CONFLICTS: dict[str, tuple[str | None, str, str]] = {
    "a value": ("a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: 3\nb: 1\n"),
    "three conflicts": (MANY.format(1, 1, 1), MANY.format(2, 2, 2), MANY.format(3, 3, 3)),
    "elements without a key": (
        TAINTS.format("  - key: a\n    operator: Exists\n"),
        TAINTS.format("  - key: spot\n    operator: Exists\n"),
        TAINTS.format("  - key: gpu\n    operator: Exists\n  - key: b\n    operator: Exists\n"),
    ),
    "deleted and changed": ("m:\n  a: 1\n  b: 2\nz: 1\n", "z: 1\n", "m:\n  a: 1\n  b: 3\nz: 1\n"),
    "another kind": ("m: 1\nz: 1\n", "m:\n  a: 1\nz: 1\n", "m:\n- a\nz: 1\n"),
    "a text": ("t: |\n  a\n  b\n", "t: |\n  x\n  b\n", "t: |\n  y\n  b\n"),
    "one line of brackets": ("m: {a: 1, b: 1}\n", "m: {a: 2, b: 1}\n", "m: {a: 3, b: 1}\n"),
    "a comment": ("# one\na: 1\n", "# two\na: 1\n", "# three\na: 1\n"),
    "a new file": (None, SERVICE.format("web", "x"), SERVICE.format("api", "y")),
    "a resource": (
        SERVICE.format("web", "x"),
        SERVICE.format("web", "y"),
        SERVICE.format("web", "z"),
    ),
    "lines that are no manifest": tuple(
        f"{{{{- if .a }}}}\na: {at}0\n{{{{- end }}}}\n" for at in range(3)
    ),
    "lines that look like markers": (
        "t: |\n  <<<<<<\nn: 1\n# =======\n",
        "t: |\n  <<<<<<\nn: 2\n# =======\n",
        "t: |\n  <<<<<<\nn: 3\n# =======\n",
    ),
    "windows": ("a: 1\r\nb: 1\r\n", "a: 2\r\nb: 1\r\n", "a: 3\r\nb: 1\r\n"),
}
TODAY = [CONFLICTS[name] for name in part(CONFLICTS)]
NAMES = [f"{at}.yaml" for at in range(len(TODAY))]
SOLVED = "solved: {}\n"


def forked(driven: Driven, style: str) -> None:
    """Two branches, `main` and `side`, with one conflict in each file."""
    driven.git("config", "rerere.enabled", "true")
    driven.git("config", "merge.conflictStyle", style)
    base, ours, theirs = (
        {name: each[at] for name, each in zip(NAMES, TODAY, strict=True)} for at in range(3)
    )
    there = {name: text for name, text in base.items() if text is not None}
    driven.fork(there, dict(ours), dict(theirs))


def texts(driven: Driven) -> dict[str, str]:
    return {name: driven.text(name) for name in NAMES}


def record(driven: Driven) -> dict[str, str]:
    """Merge, solve and commit; the merge is undone again. What the conflicts were."""
    said = driven.merge().err
    for name in NAMES:
        assert f"Recorded preimage for '{name}'" in said
    conflicted = texts(driven)
    for name in NAMES:
        driven.write(name, SOLVED.format(name))
    driven.git("add", "-A")
    said = driven.git("commit", "-q", "-m", "merged").said
    for name in NAMES:
        assert f"Recorded resolution for '{name}'" in said
    driven.git("reset", "-q", "--hard", "HEAD~1")
    return conflicted


@pytest.mark.world
@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_every_conflict_is_recognised(driven: Driven, style: str) -> None:
    forked(driven, style)
    record(driven)
    said = driven.merge().said
    for name in NAMES:
        assert f"Resolved '{name}' using previous resolution." in said
        assert driven.text(name) == SOLVED.format(name)


@pytest.mark.world
@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_every_conflict_is_the_same_text_again(driven: Driven, style: str) -> None:
    forked(driven, style)
    driven.merge()
    first = texts(driven)
    assert all("\n=======\n" in text or "\n=======\r\n" in text for text in first.values())
    driven.git("merge", "--abort")
    driven.git("config", "rerere.enabled", "false")
    driven.merge()
    assert texts(driven) == first


@pytest.mark.costly
def test_every_conflict_is_recognised_with_the_sides_swapped(driven: Driven) -> None:
    forked(driven, "merge")
    record(driven)
    driven.switch("side")
    said = driven.merge("main").said
    unknown = [name for name in NAMES if f"Resolved '{name}' using previous" not in said]
    assert not unknown


@pytest.mark.costly
def test_a_rebase_and_another_label_do_not_matter(driven: Driven) -> None:
    forked(driven, "merge")
    record(driven)
    driven.git("branch", "-m", "side", "feature/with a path".replace(" ", "-"))
    said = driven.git("rebase", "feature/with-a-path", check=False).said
    unknown = [name for name in NAMES if f"Resolved '{name}' using previous" not in said]
    assert not unknown


@pytest.mark.costly
def test_a_conflict_is_recognised_beside_another_one(driven: Driven) -> None:
    """The text around a conflict is no part of it: another file may have the same one."""
    resolved_by_rerere(driven, {"0.yaml": SOLVED.format("0.yaml")})
    driven.git("reset", "-q", "--hard")
    driven.git("mv", "0.yaml", "other.yaml")
    driven.commit("moved")
    driven.switch("side")
    driven.git("mv", "0.yaml", "other.yaml")
    driven.commit("moved")
    driven.switch("main")
    assert "Resolved 'other.yaml' using previous resolution." in driven.merge().said


@pytest.mark.costly
def test_a_conflict_that_changed_is_not_recognised(driven: Driven) -> None:
    forked(driven, "merge")
    record(driven)
    driven.commit("more", {NAMES[0]: "a: 4\nb: 1\n"})
    done = driven.merge()
    assert f"Resolved '{NAMES[0]}' using previous resolution." not in done.said
    assert f"Recorded preimage for '{NAMES[0]}'" in done.err
    assert "a: 4" in driven.text(NAMES[0])


def resolved_by_rerere(driven: Driven, answers: dict[str, str]) -> None:
    """Answer the conflicts, undo the merge, and make it again."""
    driven.git("config", "rerere.enabled", "true")
    driven.fork(*(dict.fromkeys(answers, f"a: {n}\nb: 1\n") for n in (1, 2, 3)))
    driven.merge()
    for name, text in answers.items():
        driven.write(name, text)
    driven.git("add", "-A")
    driven.git("commit", "-q", "-m", "merged")
    driven.git("reset", "-q", "--hard", "HEAD~1")
    said = driven.merge().said
    assert all(f"'{name}' using previous resolution." in said for name in answers)


@pytest.mark.parametrize("text", ["a: 2\nb: 1\n", "a: 3\nb: 1\n", "a: 1\nb: 1\n", "a: 5\nb: 1\n"])
@pytest.mark.parametrize(
    "words",
    [("resolve", "--take", "ours"), ("resolve", "--auto"), ("solve",), ("resolve", "--list")],
)
@pytest.mark.costly
def test_what_rerere_resolved_is_not_asked_and_not_replaced(
    driven: Driven, text: str, words: tuple[str, ...]
) -> None:
    """A resolution to one side was taken for what git left, and replaced."""
    resolved_by_rerere(driven, {"x.yaml": text, "apps/y.yaml": text})
    done = driven.kmerge(*words, check=False)
    assert "resolved by rerere: check the file, then run `git add`" in done.said
    assert "x.yaml" in done.said and "apps/y.yaml" in done.said
    for name in ("x.yaml", "apps/y.yaml"):
        assert driven.text(name) == text
    assert driven.git("diff", "--name-only", "--diff-filter=U").out.split() == [
        "apps/y.yaml",
        "x.yaml",
    ]


@pytest.mark.costly
def test_a_side_that_somebody_took_is_not_replaced(driven: Driven) -> None:
    driven.fork(*({"x.yaml": f"a: {n}\nb: 1\n"} for n in (1, 2, 3)))
    driven.merge()
    driven.git("checkout", "--theirs", "x.yaml")
    done = driven.kmerge("resolve", "--take", "ours", check=False)
    assert "edited after the merge" in done.err
    assert driven.text("x.yaml") == "a: 3\nb: 1\n"
    driven.git("checkout", "-m", "x.yaml")
    driven.kmerge("resolve", "--take", "ours")
    assert driven.text("x.yaml") == "a: 2\nb: 1\n"


@pytest.mark.costly
def test_a_conflict_beside_one_that_rerere_resolved_is_asked(driven: Driven) -> None:
    resolved_by_rerere(driven, {"x.yaml": "a: 3\nb: 1\n"})
    driven.git("merge", "--abort")
    driven.commit("more", {"z.yaml": "c: 2\n"})
    driven.switch("side")
    driven.commit("more", {"z.yaml": "c: 3\n"})
    driven.switch("main")
    driven.merge()
    done = driven.kmerge("resolve", "--take", "ours", check=False)
    assert "staged  z.yaml" in done.out and "x.yaml" in done.err
    assert driven.text("x.yaml") == "a: 3\nb: 1\n"


def test_a_generated_file_has_no_conflict_for_rerere(driven: Driven) -> None:
    driven.git("config", "rerere.enabled", "true")
    driven.write(".gitattributes", "x.yaml kmerge-generated\n")
    driven.fork(*({"x.yaml": f"a: {n}\nb: 1\n"} for n in (1, 2, 3)))
    driven.merge()
    driven.git("rerere")
    driven.write("x.yaml", "generated: again\n")
    assert "edited after the merge" in driven.kmerge("resolve", "--list", check=False).err


@pytest.mark.costly
def test_what_rerere_staged_is_no_conflict(driven: Driven) -> None:
    driven.git("config", "rerere.autoUpdate", "true")
    resolved_by_rerere(driven, {"x.yaml": "a: 3\nb: 1\n"})
    assert driven.kmerge("resolve", "--take", "ours").err.startswith(
        "kmerge: there are no conflicts"
    )
    assert driven.text("x.yaml") == "a: 3\nb: 1\n"


def test_without_the_driver_what_rerere_decided_is_kept(repo: Repo) -> None:
    """Git's lines conflict where kmerge merges clean, and a person once decided otherwise."""
    repo.git("config", "rerere.enabled", "true")
    repo.fork(*({"x.yaml": text} for text in ("a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: 1\nb: 2\n")))
    repo.merge()
    repo.write("x.yaml", "a: 1\nb: 2\n")
    repo.commit("merged")
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.merge()
    for words in (("solve",), ("resolve", "--auto"), ("resolve", "--take", "ours")):
        assert "resolved by rerere" in repo.kmerge(*words, check=False).said
        assert repo.text("x.yaml") == "a: 1\nb: 2\n"
