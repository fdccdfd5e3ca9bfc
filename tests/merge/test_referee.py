"""The referee lets a right merge pass, and sees every law that a result breaks."""

from __future__ import annotations

from random import Random

import laws
import pytest
import strategies

from kmerge_git.errors import KmergeError
from kmerge_git.merge import by_resource
from kmerge_git.merge.decide.git_rules import GitRules
from kmerge_git.merge.plan import Journal
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify import proof
from kmerge_git.merge.verify.referee import Violation, violations
from kmerge_git.text.source import Source
from kmerge_git.tree import parser
from kmerge_git.tree.documents import split


def told(base: str, ours: str, theirs: str, result: str) -> list[Violation]:
    """The violations of a result."""
    streams = [split(Source(text.encode())) for text in (base, ours, theirs, result)]
    return violations(Three(*streams[:3]), streams[3])


def pod(*containers: str, start: str = "", end: str = "") -> str:
    """A Pod with these containers."""
    head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n"
    return head + start + "  containers:\n" + "".join(containers) + end


def container(name: str, *lines: str) -> str:
    """A container with some more lines."""
    return f"  - name: {name}\n" + "".join(f"    {line}\n" for line in lines)


def words(field: str, *elements: str) -> list[str]:
    """A list below a field."""
    return [f"{field}:", *(f"- {element}" for element in elements)]


def args(*elements: str) -> str:
    """A Pod whose container has these arguments."""
    return pod(container("app", *words("args", *elements)))


def env(*names: str) -> str:
    """A Pod whose container has these variables."""
    return pod(container("app", *words("env", *(f"{{name: {n}, value: of-{n}}}" for n in names))))


def variables(*pairs: str) -> str:
    """A Pod whose container has these variables, each written as `name=value`."""
    elements = [pair.partition("=") for pair in pairs]
    return pod(
        container("app", *words("env", *(f"{{name: {n}, value: {v}}}" for n, _, v in elements)))
    )


def rule(*verbs: str, resource: str = "pods") -> str:
    """An element without a key."""
    return f"- resources: [{resource}]\n  verbs:\n" + "".join(f"  - {verb}\n" for verb in verbs)


def role(*rules: str) -> str:
    """A ClusterRole with these rules."""
    head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: web\n"
    return head + "rules:\n" + "".join(rules)


def config(name: str, *lines: str) -> str:
    """A ConfigMap."""
    data = "".join(f"  {line}\n" for line in lines)
    return f"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n{data}"


def route(host: str, timeout: str, *lines: str) -> str:
    """A route without a name."""
    more = "".join(f"    {line}\n" for line in lines)
    return (
        f"  - route: [{{destination: {{host: {host}, port: 80}}}}]\n    timeout: {timeout}\n{more}"
    )


def service(name: str, *routes: str) -> str:
    """A VirtualService with these routes."""
    head = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata:\n"
    return f"---\n{head}  name: {name}\nspec:\n  http:\n" + "".join(routes)


API, ADMIN = route("api", "5s"), route("admin", "5s")
APP = ("spec", "containers", (("name", "app"),))
HTTP = ("spec", "http")
SIDE = container("side", "image: side:1", "tty: true")

# base, ours, theirs; the right result; wrong ones, each with its law and the collection
CASES = {
    "one value, another value": (
        pod(container("app", "image: app:1", "tty: true")),
        pod(container("app", "image: app:2", "tty: true")),
        pod(container("app", "image: app:1", "tty: false")),
        pod(container("app", "image: app:2", "tty: false")),
        [
            ("leaf", APP, pod(container("app", "image: app:2", "tty: true"))),
            ("leaf", APP, pod(container("app", "image: app:1", "tty: false"))),
            ("leaf", APP, pod(container("app", "image: app:3", "tty: false"))),
            ("leaf", APP, pod(container("app", "image: app:2"))),
            ("count", APP, pod(container("app", "image: app:2", "tty: false", "stdin: true"))),
        ],
    ),
    "deleted, and another edited": (
        pod(container("app", "image: app:1"), SIDE),
        pod(container("app", "image: app:2"), SIDE),
        pod(container("app", "image: app:1")),
        pod(container("app", "image: app:2")),
        [
            ("gone", ("spec", "containers"), pod(container("app", "image: app:2"), SIDE)),
            ("leaf", ("spec",), pod()),
        ],
    ),
    "added, and names what the other side moved": (
        variables("A=1", "B=2", "C=3"),
        variables("B=2", "C=3", "A=1"),
        variables("A=1", "B=2", "D=$(A)", "C=3"),
        variables("B=2", "C=3", "A=1", "D=$(A)"),
        [("order", (*APP, "env"), variables("B=2", "D=$(A)", "C=3", "A=1"))],
    ),
    "added on one side": (
        config("a", "k: '1'"),
        config("a", "k: '1'", "l: '1'"),
        config("a", "k: '1'"),
        config("a", "k: '1'", "l: '1'"),
        [("leaf", ("data",), config("a", "k: '1'", "l: '2'"))],
    ),
    "both gave it one new name, one dropped a field": (
        pod(container("app", "image: app:1", "tty: true", *words("env", "{name: A}"))),
        pod(container("web", "image: app:1", "tty: true", *words("env", "{name: B}"))),
        pod(container("web", "image: app:1", *words("env", "{name: A}"))),
        pod(container("web", "image: app:1", *words("env", "{name: B}"))),
        [
            (
                "count",
                ("spec", "containers", (("name", "web"),)),
                pod(container("web", "image: app:1", "tty: true", *words("env", "{name: B}"))),
            ),
            (
                "count",
                ("spec", "containers", (("name", "web"),), "env"),
                pod(container("web", "image: app:1", *words("env", "{name: A}", "{name: B}"))),
            ),
        ],
    ),
    "renamed here, edited there": (
        pod(container("app", "image: app:1", "tty: true")),
        pod(container("web", "image: app:1", "tty: true")),
        pod(container("app", "image: app:2", "tty: true")),
        pod(container("web", "image: app:2", "tty: true")),
        [("leaf", None, pod(container("web", "image: app:1", "tty: true")))],
    ),
    "taken away here, moved there": (
        args("a", "b", "c", "d"),
        args("d", "a", "b", "c"),
        args("d", "b", "c"),
        args("d", "b", "c"),
        [
            ("count", (*APP, "args"), args("d", "d", "b", "c")),
            ("count", (*APP, "args"), args("b", "c")),
            ("order", (*APP, "args"), args("b", "c", "d")),
        ],
    ),
    "the same in one gap": (
        args("a", "b", "old"),
        args("a", "b", "new"),
        args("a", "b", "new", "old"),
        args("a", "b", "new"),
        [("count", (*APP, "args"), args("a", "b", "new", "new"))],
    ),
    "the same beside others": (
        args("a"),
        args("-f", "b", "a"),
        args("a", "-f", "c"),
        args("-f", "b", "a", "-f", "c"),
        [("count", (*APP, "args"), args("-f", "b", "a", "-f", "c", "-f"))],
    ),
    "variables have an order": (
        env("a", "b", "c"),
        env("b", "a", "c"),
        env("a", "b", "c", "d"),
        env("b", "a", "c", "d"),
        [("order", (*APP, "env"), env("a", "b", "c", "d"))],
    ),
    "containers have none": (
        pod(container("app", "image: app:1"), SIDE),
        pod(SIDE, container("app", "image: app:1")),
        pod(container("app", "image: app:2"), SIDE),
        pod(container("app", "image: app:2"), SIDE),
        [],
    ),
    "elements without a key, merged inside": (
        role(rule("get", "list")),
        role(rule("get", "list", "watch")),
        role(rule("list")),
        role(rule("list", "watch")),
        [
            ("count", ("rules",), role(rule("get", "list", "watch"), rule("list"))),
            ("count", ("rules",), role(rule("list"))),
            ("count", ("rules",), role(rule("get", "list", "watch"))),
        ],
    ),
    "elements without a key, one each": (
        role(rule("get")),
        role(rule("get"), rule("get", resource="jobs")),
        role(rule("get"), rule("list", resource="nodes")),
        role(rule("get"), rule("get", resource="jobs"), rule("list", resource="nodes")),
        [
            ("count", ("rules",), role(rule("get"), rule("list", resource="nodes"))),
            (
                "count",
                ("rules",),
                role(
                    *(rule("get"), rule("get")),
                    *(rule("get", resource="jobs"), rule("list", resource="nodes")),
                ),
            ),
        ],
    ),
    "documents": (
        config("a", "k: 1") + config("b", "k: 2"),
        config("a", "k: 1") + config("b", "k: 3") + config("c", "k: 4"),
        config("b", "k: 2", "l: 5"),
        config("b", "k: 3", "l: 5") + config("c", "k: 4"),
        [
            ("gone", (), config("a", "k: 1") + config("b", "k: 3", "l: 5") + config("c", "k: 4")),
            ("count", (), config("b", "k: 3", "l: 5")),
            ("twice", (), config("b", "k: 3", "l: 5") + config("c", "k: 4") * 2),
        ],
    ),
    "empty documents": (
        "---\n---\n---\nk: 1\nl: 1\n",
        "---\n---\n---\nk: 2\nl: 1\n",
        "---\n---\n---\nk: 1\nl: 2\n",
        "---\n---\n---\nk: 2\nl: 2\n",
        [("count", (), "---\n---\n---\n---\nk: 2\nl: 2\n")],
    ),
    "comments": (
        config("a", "# one", "k: 1", "l: 1", "# foot"),
        config("a", "k: 1", "l: 1", "m: 1", "# foot"),
        config("a", "# one", "k: 1", "# two", "l: 1", "n: 1", "# foot"),
        config("a", "k: 1", "# two", "l: 1", "m: 1", "n: 1", "# foot"),
        [
            ("comment", ("data",), config("a", "k: 1", "l: 1", "m: 1", "n: 1", "# foot")),
            (
                "comment",
                ("data",),
                config("a", "# one", "k: 1", "# two", "l: 1", "m: 1", "n: 1", "# foot"),
            ),
            (
                "comment",
                ("data",),
                config("a", "k: 1", "# two", "l: 1", "# foot", "m: 1", "n: 1", "# foot"),
            ),
        ],
    ),
    "a text is no comment": (
        config("a", "k: |", "  # one", "l: 1"),
        config("a", "k: |", "  # two", "l: 1"),
        config("a", "k: |", "  # one", "l: 2"),
        config("a", "k: |", "  # two", "l: 2"),
        [("leaf", ("data",), config("a", "k: |", "  # one", "l: 2"))],
    ),
    "columns": (
        config("a", "k:", "- x", "- y", "l: 1"),
        config("a", "k:", "- x", "- y", "l: 2"),
        config("a", "k:", "  - x", "  - z", "l: 1"),
        config("a", "k:", "  - x", "  - z", "l: 2"),
        [("untouched", ("data", "k"), config("a", "k:", "- x", "- z", "l: 2"))],
    ),
    "spelling": (
        config("a", "k: 'x'", "l: 1", "m: 1"),
        config("a", "k: 'x'", "l: 2", "m: 1"),
        config("a", "k: 'x'", "l: 1", "m: 2"),
        config("a", "k: 'x'", "l: 2", "m: 2"),
        [("untouched", ("data",), config("a", "k: x", "l: 2", "m: 2"))],
    ),
    "an element moved here and edited there": (
        service("shop", API, route("shop", "9s"), ADMIN),
        service("shop", ADMIN, API, route("shop", "9s")),
        service("shop", API, route("shop", "9s"), route("admin", "7s")),
        service("shop", route("admin", "7s"), API, route("shop", "9s")),
        [
            ("order", HTTP, service("shop", API, route("shop", "9s"), route("admin", "7s"))),
            ("leaf", HTTP, service("shop", ADMIN, API, route("shop", "9s"))),
            ("leaf", HTTP, service("shop", route("admin", "8s"), API, route("shop", "9s"))),
            ("count", HTTP, service("shop", route("admin", "7s"), API, route("shop", "9s"), ADMIN)),
        ],
    ),
    "an option moved here and edited there": (
        args("--v=1", "--api", "--log a"),
        args("--log a", "--v=1", "--api"),
        args("--v=1", "--api", "--log b"),
        args("--log b", "--v=1", "--api"),
        [
            ("order", (*APP, "args"), args("--v=1", "--api", "--log b")),
            ("count", (*APP, "args"), args("--log b", "--v=1", "--api", "--log a")),
        ],
    ),
    "an element without a key, edited by both": (
        service("shop", API, ADMIN),
        service("shop", API, route("admin", "6s")),
        service("shop", API, route("admin", "5s", "retries: 3")),
        service("shop", API, route("admin", "6s", "retries: 3")),
        [
            ("leaf", HTTP, service("shop", API, route("admin", "6s"))),
            ("leaf", HTTP, service("shop", API, route("admin", "5s", "retries: 3"))),
            ("leaf", HTTP, service("shop", API, route("admin", "6s", "retries: 4"))),
            ("count", HTTP, service("shop", API)),
        ],
    ),
    "a copy added on one side": (
        service("shop", API, ADMIN),
        service("canary", API, ADMIN) + service("shop", API, route("admin", "6s")),
        service("shop", route("api", "7s"), ADMIN),
        service("canary", API, ADMIN) + service("shop", route("api", "7s"), route("admin", "6s")),
        [
            (
                "leaf",
                HTTP,
                service("canary", route("api", "7s"), ADMIN)
                + service("shop", API, route("admin", "6s")),
            ),
            (
                "leaf",
                HTTP,
                service("canary", ADMIN, API)
                + service("shop", route("api", "7s"), route("admin", "6s")),
            ),
        ],
    ),
    "an element that both sides added": (
        role(rule("get")),
        role(rule("list", resource="jobs"), rule("get"), rule("list", resource="nodes")),
        role(rule("list", resource="jobs"), rule("get")),
        role(rule("list", resource="jobs"), rule("get"), rule("list", resource="nodes")),
        [
            (
                "count",
                ("rules",),
                role(
                    *(rule("list", resource="jobs"), rule("get"), rule("list", resource="nodes")),
                    rule("list", resource="jobs"),
                ),
            ),
        ],
    ),
    "little is left": (
        args("a", "b", "c"),
        args("a", "c"),
        args("b", "c"),
        args("c"),
        [("count", (*APP, "args"), args("a", "c"))],
    ),
}
WRONG = [
    pytest.param(*CASES[name][:3], *wrong, id=f"{name}-{n}")
    for name in CASES
    for n, wrong in enumerate(CASES[name][4])
]


@pytest.mark.parametrize("name", CASES)
def test_a_right_merge_breaks_no_law(name: str) -> None:
    base, ours, theirs, right, _ = CASES[name]
    assert not told(base, ours, theirs, right)
    assert not told(base, theirs, ours, right)


@pytest.mark.parametrize("base, ours, theirs, law, path, result", WRONG)
def test_a_wrong_one_does(
    base: str, ours: str, theirs: str, law: str, path: tuple[object, ...] | None, result: str
) -> None:
    for sides in ((ours, theirs), (theirs, ours)):
        found = told(base, *sides, result)
        assert law in [violation.law for violation in found], found
        if path is not None:
            assert path in [v.path for v in found if v.law == law], found


def test_a_list_that_both_sides_emptied_together_is_no_merge() -> None:
    made = pod(container("app", "args: []"))
    found = told(args("a", "b"), args("a"), args("b"), made)
    assert [(v.law, v.path) for v in found] == [("emptied", (*APP, "args"))]
    assert not told(args("a", "b"), args("a", "b"), made, made)


@pytest.mark.parametrize("place", ["env", "finalizers"])
def test_what_both_sides_replaced_is_not_there_twice(place: str) -> None:
    """No result with both is right, and none with one of them: a person must say."""

    def made(*names: str) -> str:
        if place == "env":
            return env(*names)
        text = config("a", "k: 1")
        return text.replace("\ndata:", "\n  finalizers: [" + ", ".join(names) + "]\ndata:")

    base, ours, theirs = made("a", "b", "c"), made("a", "x", "c"), made("a", "y", "c")
    assert [v.law for v in told(base, ours, theirs, made("a", "x", "y", "c"))] == ["count"]
    # one of them went, the other came somewhere else: nothing was replaced twice
    assert not told(base, made("a", "c", "x"), made("y", "a", "c"), made("y", "a", "c", "x"))


def test_two_values_of_one_field_have_no_lawful_merge() -> None:
    """Neither in a resource with a copy above it, nor in an element without a key."""
    base = service("shop", API, ADMIN)
    ours = service("canary", API, ADMIN) + service("shop", API, route("admin", "6s"))
    theirs = service("shop", API, route("admin", "7s"))
    for timeout in ("5s", "6s", "7s"):
        result = service("shop", API, route("admin", timeout))
        assert told(base, ours, theirs, service("canary", API, ADMIN) + result)
        assert told(base, service("shop", API, route("admin", "6s")), theirs, result)
    by_lines = service("canary", API, route("admin", "7s")) + service("shop", API, ADMIN)
    assert "leaf" in {v.law for v in told(base, ours, theirs, by_lines)}


@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_a_text_of_several_lines_may_be_merged_by_lines(quote: str) -> None:
    def made(first: str, last: str) -> str:
        return config("a", f"k: {quote}{first}", f"  middle\n    {last}{quote}")

    assert not told(made("a", "b"), made("c", "b"), made("a", "d"), made("c", "d"))
    assert told(made("a", "b"), made("c", "b"), made("a", "b"), made("a", "b"))


def test_what_differs_only_within_conflicts_is_no_violation() -> None:
    base, ours, theirs = args("a", "b"), args("a", "c"), args("a", "d")
    streams = [split(Source(text.encode())) for text in (base, ours, theirs)]
    assert violations(Three(*streams), streams[1])
    assert not violations(Three(*streams), streams[1], streams[2])
    broken = [split(Source(text.replace("web", "x").encode())) for text in (ours, theirs)]
    assert violations(Three(*streams), *broken)


def test_what_was_settled_is_left_out() -> None:
    base, ours, theirs = (config("a", f"k: {n}", "l: 1") for n in (1, 2, 3))
    at = Three(*(split(Source(text.encode())) for text in (base, ours, theirs)))
    assert {v.law for v in violations(at, at.ours)} == {"leaf"}
    assert not violations(at, at.ours, settled=[("ConfigMap/a", ("data", "k"))])
    assert violations(at, at.ours, settled=[("ConfigMap/b", ("data", "k"))])


def test_documents_of_one_text_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor are those that only one side changed, nor what the proof has read."""
    same, one, two = config("same", "k: 1"), config("one", "k: 1"), config("two", "k: 1")
    texts = (
        same + one + two + config("a", "k: 1", "l: 1"),
        same + one.replace("1", "2") + two + config("a", "k: 2", "l: 1"),
        same + one + two.replace("1", "2") + config("a", "k: 1", "l: 2"),
        same + one.replace("1", "2") + two.replace("1", "2") + config("a", "k: 2", "l: 2"),
    )
    streams = [split(Source(text.encode())) for text in texts]
    read = split(Source(config("a", "k: 2", "l: 2").encode())).documents
    assert read[0].root is not None
    parsed: list[str] = []
    compose = parser.compose
    monkeypatch.setattr(parser, "compose", lambda text: parsed.append(text) or compose(text))
    assert not violations(Three(*streams[:3]), streams[3], read=read)
    assert sorted(parsed) == sorted(stream.documents[3].content for stream in streams[:3])


@pytest.mark.costly
def test_random_merges_of_one_side_break_no_law() -> None:
    """What one side alone changed is as that side has it: every law must hold."""
    for seed in range(150):
        base, ours, _ = strategies.trio(Random(seed), 3)
        if laws.comparable((base, ours, ours)):
            at = Three(*(split(Source(data)) for data in (base, ours, base)))
            assert not violations(at, at.ours)
            assert not violations(Three(at.base, at.ours, at.ours), at.ours)


@pytest.mark.costly
def test_a_lost_line_is_seen_in_random_merges() -> None:
    """Of every line that can go without breaking the file, unless it says nothing."""
    seen = missed = 0
    for seed in range(60):
        trio = strategies.trio(Random(seed), 2)
        if not laws.comparable(trio):
            continue
        at = Three(*(split(Source(data)) for data in trio))
        try:
            merged = by_resource.merge(GitRules(), at, Journal())
            proof.prove(merged, "ours")
        except KmergeError:
            continue
        if merged.hunks():
            continue
        lines = merged.decided("ours").split("\n")
        for n, line in enumerate(lines):
            if not line.strip(" -"):
                continue
            try:
                result = split(Source.of("\n".join([*lines[:n], *lines[n + 1 :]])))
                assert result.roots is not None
            except KmergeError:
                continue
            if violations(at, result):
                seen += 1
            else:
                missed += 1
    assert seen > 500
    assert missed <= seen / 50
