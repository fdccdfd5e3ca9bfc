"""The files of a package: what is read, and which paths and links it may hold."""

import os

import pytest

from kmerge_git.errors import UsageError
from kmerge_git.packages.files import File, is_manifest, read


@pytest.mark.parametrize("path", ["a.yaml", "x/b.yml", "c.json", "Kptfile", "x/Kustomization"])
def test_manifests(path):
    assert is_manifest(path)
    assert not is_manifest(path, File(b"target", link=True))
    assert not is_manifest(f"{path}.txt")


def test_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot read it"):
        read(str(tmp_path / "none"))
