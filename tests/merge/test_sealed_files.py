"""Which files are encrypted, where the markers of their conflicts are, and texts of Ansible Vault."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from kmerge_git.api import merge_files
from kmerge_git.errors import TimeUp
from kmerge_git.git.line_merges import LineMerges, MergedLines
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options, Outcome
from kmerge_git.pipeline import merge
from kmerge_git.text.linemerge import Given
from kmerge_git.text.markers import resolve
from kmerge_git.text.opaque_files import is_sealed
from kmerge_git.text.pieces import UNDECIDED
from kmerge_git.tree.documents import YamlText
from kmerge_git.whole import both_merges
from kmerge_git.whole.both_merges import Both, Job

MERGES = LineMerges()


def lines(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bool]:
    """Git's line merge, and whether it is clean."""
    merged = MergedLines(MERGES, (base, ours, theirs), Options())
    return merged.text, merged.clean


SIDES = ("ours", "theirs")


def merged(base: str, ours: str, theirs: str, **options: object) -> Outcome:
    texts = (text.encode() for text in (base, ours, theirs))
    return merge_files(*texts, path="s.yaml", line_merge=lines, **options)  # type: ignore[arg-type]


FORMATS = [
    ("yaml", "a: ENC[1]\nsops:\n    kms: []\n    mac: ENC[2]\n    version: 3.9.0\n"),
    ("yaml", "sops:\n  # by hand\n  mac: x\na: 1\n"),
    ("yaml", "a: 1\n---\nb: 1\nsops:\n  pgp:\n  - enc: |\n      mac: 1\n  mac: x\n"),
    ("yaml", '"sops":\n  "mac": x\n'),
    ("yaml", "a: 1\nsops: {version: 3, mac: x}\n"),
    ("yaml", '{"a": "sops", "l": [{"mac": 1}], "sops": {"age": [{"mac": 1}], "mac": "ENC[1]"}}'),
    ("yaml", "{a: 1, sops: {mac: x}}\n"),
    ("yaml", "\ufeffsops:\r\n  mac: x\r\n"),
    ("dotenv", "A=ENC[1]\nsops_mac=ENC[2]\nsops_version=3.9.0\n"),
    ("ini", "[a]\nb = ENC[1]\n\n[sops]\nversion = 3\nmac     = ENC[2]\n"),
    ("", "sops:\n  enabled: true\n  macros: []\n"),
    ("", "sops: {enabled: true}\nmac: x\n"),
    ("", "sops:\n  enabled: true\nmac: x\n"),
    ("", "sops:\n  age:\n    mac: x\n"),
    ("", "sops:\n  mac:\n  b: 1\n"),
    ("", "spec:\n  sops:\n    mac: x\n"),
    ("", "kind: ConfigMap\ndata:\n  a: |\n    sops:\n      mac: x\n  b.env: sops_mac=x\n"),
    ("", '{"a": {"sops": {"mac": "x"}}, "sops": {"on": true}, "mac": 1}'),
    ("", '{"sops": ["mac"], "b": {"mac": 1}}'),
    ("", "[sops]\nversion = 3\n[other]\nmac = x\n"),
    ("", "# sops: mac:\na: 1\n"),
]


@pytest.mark.parametrize("form, text", FORMATS)
def test_which_files_are_sealed(form: str, text: str) -> None:
    assert is_sealed(text) == bool(form)


PLAIN = "".join(f"k{n}: {n}\n" for n in range(9))
SEAL = "a: ENC[1]\nsops:\n    lastmodified: one\n    mac: ENC[m1]\n    version: 3.9.0\n"
BASE = f"{PLAIN}{SEAL}z: 1\n"


def hand(text: str, number: int) -> str:
    return text.replace(f"k{number}: {number}\n", f"k{number}: new\n")


def sealed_anew(number: int) -> str:
    return BASE.replace("ENC[1]", f"ENC[{number}]").replace("m1", f"m{number}")


DECRYPTED = PLAIN + "a: open\nz: 1\n"
# what both sides may do, where git's lines are clean
CLEAN = {
    "a seal, a plain field": (
        sealed_anew(9),
        hand(BASE, 1),
    ),
    "two plain fields": (hand(BASE, 1), hand(BASE, 7)),
    "a seal, a comment": (
        sealed_anew(9),
        "# note\n" + BASE,
    ),
    "two comments": ("# note\n" + BASE, BASE + "# end\n"),
    "decrypted, a plain field": (DECRYPTED, hand(BASE, 1)),
}


@pytest.mark.parametrize("name", CLEAN)
@pytest.mark.parametrize("style", ["merge", "diff3"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"rules": "kyaml"}, {"favor": "theirs"}, {"policy": lambda *args: "theirs"}],
    ids=["plain", "kyaml", "favor", "policy"],
)
def test_the_whole_file_is_a_conflict_where_lines_are_clean(
    name: str, style: str, settings: dict[str, object]
) -> None:
    for ours, theirs in (CLEAN[name], CLEAN[name][::-1]):
        assert lines(BASE.encode(), ours.encode(), theirs.encode())[1]
        outcome = merged(BASE, ours, theirs, style=style, **settings)
        text = outcome.text.decode()
        assert (outcome.method, outcome.clean, len(outcome.conflicts)) == ("sealed", False, 1)
        assert text.count("<<<<<<< ours (encrypted: see `kmerge explain s.yaml`)\n") == 1
        assert [resolve(text, side) for side in SIDES] == [ours, theirs]


def test_git_hunks_are_the_conflict_where_lines_conflict() -> None:
    ours, theirs = hand(sealed_anew(2), 1), sealed_anew(3)
    outcome = merged(BASE, ours, theirs)
    text = outcome.text.decode()
    assert (outcome.method, outcome.clean, len(outcome.conflicts)) == ("sealed", False, 1)
    assert text.startswith(hand(PLAIN, 1) + "<<<<<<< ours (encrypted: see `kmerge explain s.yaml`)")
    assert resolve(text, "ours") == ours
    assert resolve(text, "theirs") == hand(theirs, 1)


@pytest.mark.parametrize("settings", [{"rules": "kyaml"}, {"favor": "theirs"}])
def test_no_setting_settles_a_part(settings: dict[str, str]) -> None:
    ours, theirs = sealed_anew(2), sealed_anew(3)
    plain, settled = merged(BASE, ours, theirs), merged(BASE, ours, theirs, **settings)
    assert not plain.clean
    assert (settled.clean, settled.text) == (False, plain.text)


def test_lines_like_markers_have_longer_markers_around_them() -> None:
    head = "# <<<<<<<\n<<<<<<< x: 1\n"
    text = merged(head + BASE, head + sealed_anew(2), head + sealed_anew(3)).text.decode()
    assert "\n<<<<<<<<<<< ours (encrypted: see `kmerge explain s.yaml`)\n" in text
    assert text.startswith("# <<<<<<<\n<<<<<<< x: 1\n")


def test_what_both_sides_did_alike_is_no_conflict() -> None:
    for ours, theirs in ((BASE, hand(BASE, 1)), (hand(BASE, 1), BASE), (DECRYPTED, DECRYPTED)):
        outcome = merged(BASE, ours, theirs)
        assert outcome.clean and outcome.text.decode() == (ours if theirs == BASE else theirs)


def test_a_merge_of_ancestors_has_a_placeholder() -> None:
    """What both sides solve differently afterwards is a conflict, although one is the old base."""
    for ours, theirs in (*CLEAN.values(), (sealed_anew(2), sealed_anew(3))):
        texts = Three(BASE, ours, theirs).map(str.encode)
        outcome = merge(texts.map(YamlText), Options("s.yaml", virtual=True), started(texts))
        assert UNDECIDED in outcome.text.decode().splitlines()[0]
        for side in (theirs, BASE):
            assert not merged(outcome.text.decode(), ours, side).clean


def started(texts: Three[bytes]) -> Callable[[str, int], Given]:
    return lambda favor, size: Given(*lines(*texts.each()))


def test_line_ends_and_names_of_files() -> None:
    ours, theirs = sealed_anew(2), sealed_anew(3)
    crlf = [text.replace("\n", "\r\n") for text in (BASE, ours, theirs)]
    text = merged(*crlf).text.decode()
    assert text.count("\r\n") == text.count("\n")
    texts = (data.encode() for data in (BASE, ours, theirs))
    label = merge_files(*texts, path="a\x1b[1m b.yaml", line_merge=lines).text.decode()
    assert "(encrypted: see `kmerge explain a\\x1b[1m b.yaml`)" in label


@pytest.mark.parametrize("data", [b"a: \xff%d\n", b"a: {{ .x }} %d\n", b"%d\0"])
def test_what_git_cannot_merge_has_both_sides_unless_it_is_binary(data: bytes) -> None:
    texts = Three(*(data % number for number in (1, 2, 3)))
    no_merge = NoMerge()
    text = merge(texts.map(YamlText), Options(), lambda favor, size: no_merge).text
    if b"\0" in data:
        assert text == texts.ours
    else:
        shown = text.decode("utf-8", "surrogateescape")
        sides = [resolve(shown, side).encode("utf-8", "surrogateescape") for side in SIDES]
        assert sides == [texts.ours, texts.theirs]


class NoMerge:
    def result(self) -> tuple[bytes, int]:
        return b"", -1


def test_no_clean_lines_after_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*args: object) -> Both:
        raise TimeUp

    monkeypatch.setattr(both_merges, "merge_both", late)
    three = Three[bytes | None](BASE.encode(), hand(BASE, 1).encode(), hand(BASE, 7).encode())
    (both,) = both_merges.merge_all([Job(three, Options("s.yaml"))], 9.0)
    assert (both.git_clean, both.outcome.clean, both.outcome.method) == (True, False, "sealed")


# -- Ansible Vault


def digits(*changed: str) -> list[str]:
    """The lines of an encrypted text; real ones change as a whole."""
    words = [f"line {n}" for n in range(8)]
    for word in changed:
        words[int(word[-1])] = word
    return [hashlib.sha512(word.encode()).hexdigest()[:80] for word in words]


def vault(indent: str, lines: list[str]) -> str:
    return "".join(f"{indent}{line}\n" for line in ("$ANSIBLE_VAULT;1.1;AES256", *lines))


VAULTS: dict[str, Callable[[list[str]], str]] = {
    "a whole file": lambda lines: vault("", lines),
    "a value": lambda lines: f"a: 1\nb: !vault |\n{vault('      ', lines)}c: 1\n",
    "a block text": lambda lines: f"a: 1\nb: |\n{vault('  ', lines)}c: 1\n",
    "folded": lambda lines: f"a: 1\nb: !vault >-\n{vault('  ', lines)}c: 1\n",
    "an element": lambda lines: f"a:\n- x\n- !vault |\n{vault('  ', lines)}- y\nc: 1\n",
    "no YAML": lambda lines: f"{{% if x %}}\nb: !vault |\n{vault('  ', lines)}{{% endif %}}\n",
    "a template": lambda lines: f"{{{{ if .x }}}}\nb: |\n{vault('  ', lines)}{{{{ end }}}}\n",
}


@pytest.mark.parametrize("name", VAULTS)
@pytest.mark.parametrize("settings", [{}, {"rules": "kyaml"}, {"style": "diff3"}])
def test_an_encrypted_text_is_one_value(name: str, settings: dict[str, str]) -> None:
    write = VAULTS[name]
    base, ours, theirs = write(digits()), write(digits("ours 1")), write(digits("theirs 6"))
    assert lines(*(text.encode() for text in (base, ours, theirs)))[1]  # git mixes the lines
    outcome = merged(base, ours, theirs, **settings)
    text = outcome.text.decode()
    if outcome.clean:  # the rules of kyaml choose a side
        assert settings == {"rules": "kyaml"} and text in (ours, theirs)
    else:
        assert text.count("<<<<<<<") == 1
        assert [resolve(text, side) for side in SIDES] == [ours, theirs]


def test_a_vault_file_is_one_conflict_where_git_has_hunks() -> None:
    base, ours, theirs = (
        vault("", digits(*words)) for words in ((), ("ours 1", "here 6"), ("theirs 1", "there 6"))
    )
    text = merged(base, ours, theirs).text.decode()
    assert text.count("<<<<<<<") == 1 and text.count("(encrypted: ") == 1
    assert [resolve(text, side) for side in SIDES] == [ours, theirs]


@pytest.mark.parametrize("name", VAULTS)
def test_another_change_goes_with_an_encrypted_text(name: str) -> None:
    write = VAULTS[name]
    base, ours = write(digits()), write(digits("ours 1"))
    theirs = base.replace("c: 1", "c: 2")
    if theirs != base:
        assert merged(base, ours, theirs).text.decode() == ours.replace("c: 1", "c: 2")


def test_a_mixture_beside_another_conflict() -> None:
    texts = [
        "{% if x %}\na: %s\nb: !vault |\n".replace("%s", str(n)) + vault("  ", digits(*changed))
        for n, changed in enumerate([(), ("ours 1",), ("theirs 6",)])
    ]
    text = merged(*texts).text.decode()
    assert [resolve(text, side) for side in SIDES] == texts[1:]


def test_a_given_merge_of_lines_is_held_against_the_sides() -> None:
    write = VAULTS["a value"]
    texts = [write(digits()), write(digits("ours 1")), write(digits("theirs 6"))]
    mixed = write(digits("ours 1", "theirs 6")).encode()
    data = Three(*(text.encode() for text in texts)).map(YamlText)
    assert not merge(data, Options(), lambda favor, size: Given(mixed, True)).clean
