"""The cached repository of a source."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest
from git.world import Repo
from vendored.conftest import release


def test_it_is_read_where_the_system_has_no_locks(
    up: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(up, "v1.0.0", {"a.yaml": "a: 1\n"})
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows: to import it is an error
    monkeypatch.delitem(sys.modules, "kmerge_git.git.upstream", raising=False)
    source = import_module("kmerge_git.git.upstream").Upstream(
        f"file://{up.path}", tmp_path / "cache"
    )
    assert list(source.tags()) == ["v1.0.0"]
