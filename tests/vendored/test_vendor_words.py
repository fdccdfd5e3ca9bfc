"""Sources, refs, records and versions: what is taken and what is refused, before git is asked."""

from __future__ import annotations

import pytest

from kmerge_git.errors import UsageError
from kmerge_git.packages.package_files import File
from kmerge_git.vendored.origin_records import RECORD, Record, Vendored, parse_record
from kmerge_git.vendored.upstream_sources import (
    check_ref,
    check_source,
    is_local,
    newer,
    recorded,
    url_of,
)

GOOD = Record("https://example.org/a/b.git", "deploy", "v1", "a" * 40, "sha256:" + "b" * 64)


@pytest.mark.parametrize(
    "source",
    [
        "https://example.org/a/b.git",
        "HTTPS://example.org/a",
        "https://example.org:8443/a/b@c",
        "ssh://git@example.org/a",
        "git@example.org:a/b.git",
        "host:a/b",
        "git@[::1]:a/b",
        "file:///srv/a b",
        "/srv/a b",
        "../up",
        "./host:a",
        "up",
    ],
)
def test_a_source(source):
    if source == "file:///srv/a b":
        source = "file:///srv/a%20b"
    check_source(source)


@pytest.mark.parametrize(
    "source, why",
    [
        ("", "unprintable characters"),
        ("a\nb", "unprintable characters"),
        ("a\x1bb", "unprintable characters"),
        (" a", "unprintable characters"),
        ("https://a/b c", "unprintable characters"),
        ("https://a/\u202eb", "unprintable characters"),
        ("-oProxyCommand=x", "option"),
        ("--upload-pack=x", "option"),
        ("http://example.org/a", "not encrypted"),
        ("git://example.org/a", "not encrypted"),
        ("ext::sh -c x", "unprintable characters"),
        ("ext::sh", "git would run a program"),
        ("fd::7", "git would run a program"),
        ("ext://x/y", "helper"),
        ("https://token@example.org/a", "password"),
        ("https://me:secret@example.org/a", "password"),
        ("https://me%3Asecret@example.org/a", "password"),
        ("ssh://me:secret@example.org/a", "password"),
        ("me:secret@example.org:a", "password"),
        ("https://example.org/a?private_token=secret", "`?`"),
        ("https://example.org/a#secret", "`?`"),
        ("ssh://-oProxyCommand=x/a", "host"),
        ("ssh://-oProxyCommand=x@host/a", "host"),
        ("https:///a", "host"),
        ("-x@host:a", "option"),
        ("me@-oProxyCommand=x:a", "neither a URL"),
        ("host:-x", "neither a URL"),
        ("host:", "neither a URL"),
        (":a", "neither a URL"),
        ("[::1:a", "neither a URL"),
    ],
)
def test_no_source(source, why):
    with pytest.raises(UsageError) as error:
        check_source(source)
    assert why in str(error.value)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("ref", ["v1.0.0", "main", "HEAD", "a/b", "refs/tags/v1", "a" * 40, "ü"])
def test_a_ref(ref):
    check_ref(ref)


@pytest.mark.parametrize(
    "ref",
    [
        "",
        "-x",
        "--upload-pack=x",
        "a..b",
        "a b",
        "a~1",
        "a^",
        "a:b",
        "a?",
        "a*",
        "a[",
        "a\\b",
        "/a",
    ],
)
def test_no_ref(ref):
    with pytest.raises(UsageError):
        check_ref(ref)


@pytest.mark.parametrize(
    "ref",
    [
        "a/",
        "a//b",
        ".a",
        "a/.b",
        "a.lock",
        "a.lock/b",
        "a.",
        "a@{1}",
        "@",
        "a\nb",
        "a\x7f",
        "a\u202e",
    ],
)
def test_no_ref_either(ref):
    with pytest.raises(UsageError):
        check_ref(ref)


def test_a_relative_source_counts_from_the_package(tmp_path, monkeypatch):
    (tmp_path / "a" / "up").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a")
    assert recorded("up", "x/y") == "../../up"
    assert recorded("up/sub", "up") == "./sub"
    monkeypatch.chdir(tmp_path)
    assert url_of("../../up", "a/x/y") == str(tmp_path / "a" / "up")
    for same in (str(tmp_path), "https://example.org/a", "host:a"):
        assert recorded(same, "x") == url_of(same, "x") == same
    assert is_local("../up") and is_local("file:///a") and not is_local("host:a")


def test_a_record_is_read_as_it_is_written():
    assert parse_record(GOOD.spelled(), RECORD) == GOOD


@pytest.mark.parametrize("now, mode", [(None, 0o644), (File(b"", 0o600), 0o600)])
def test_the_mode_of_the_next_record(now, mode):
    package = Vendored("shop", GOOD, is_kpt=False)
    assert package.moved_on(now, GOOD, "refs/tags/v1") == File(GOOD.spelled(), mode)


def line_of(number: int, text: str) -> bytes:
    """The good record with another text at one line."""
    lines = GOOD.spelled().decode().splitlines()
    lines[number - 1] = text
    return "\n".join([*lines, ""]).encode()


@pytest.mark.parametrize(
    "data, line, why",
    [
        (line_of(1, "source: ext::sh"), 1, "program"),
        (line_of(1, "source: -x"), 1, "option"),
        (line_of(2, "path: ../.."), 2, "path"),
        (line_of(2, "path: /etc"), 2, "path"),
        (line_of(2, "path: a/../../b"), 2, "path"),
        (line_of(2, "path: .git/hooks"), 2, "path"),
        (line_of(2, "path: a\x1b[2J"), 2, "unprintable characters"),
        (line_of(3, "ref: --upload-pack=x"), 3, "ref"),
        (line_of(4, "commit: HEAD"), 4, "commit"),
        (line_of(4, "commit: abc1234"), 4, "commit"),
        (line_of(5, "checksum: md5:1"), 5, "checksum"),
        (line_of(5, "policy: theirs"), 5, "unknown key"),
        (line_of(5, "path: deploy"), 5, "duplicate key"),
        (line_of(5, "<<<<<<< HEAD"), 5, "one side"),
        (line_of(5, "checksum:sha256"), 5, "key: value"),
        (GOOD.spelled() + b"\n", 6, "key: value"),
        (GOOD.spelled().replace(b"ref: v1\n", b""), 4, "`ref: ...` is missing"),
        (GOOD.spelled().replace(b"\n", b"\r\n"), 1, "unprintable characters"),
        (b"", 1, "key: value"),
        (b"\xff\xfe", 1, "key: value"),
    ],
)
def test_a_record_that_is_wrong(data, line, why):
    with pytest.raises(UsageError) as error:
        parse_record(data, "x/.kmerge-vendor")
    assert str(error.value).startswith(f"x/.kmerge-vendor:{line}: ")
    assert why in str(error.value)


@pytest.mark.parametrize(
    "tag, tags, expected",
    [
        ("v1.9.0", ["v1.9.0", "v1.10.0", "v1.8.9", "v2.0.0"], ["v2.0.0", "v1.10.0"]),
        ("v1.0", ["v1.0.0", "v1.0.1"], ["v1.0.1"]),
        ("v1.0.0", ["v1.1.0-rc.1", "v1.0.0-rc.1", "v1.0.1+build"], ["v1.0.1+build"]),
        ("v1.1.0-rc.2", ["v1.1.0-rc.1", "v1.1.0-rc.10", "v1.1.0"], ["v1.1.0", "v1.1.0-rc.10"]),
        ("v1.1.0-1", ["v1.1.0-2", "v1.1.0-rc"], ["v1.1.0-rc", "v1.1.0-2"]),
        ("chart-1.2.3", ["chart-1.3.0", "app-9.0.0", "v9.0.0", "1.9.0"], ["chart-1.3.0"]),
        ("deploy/v1.0.0", ["deploy/v1.1.0", "v3.0.0"], ["deploy/v1.1.0"]),
        ("2024.01.15", ["2024.1.16", "2023.12.31"], ["2024.1.16"]),
        ("main", ["v1.0.0"], []),
        ("v1.0.0", ["v" + "9" * 5000], []),
    ],
)
def test_newer_versions(tag, tags, expected):
    assert newer(tag, tags) == expected
