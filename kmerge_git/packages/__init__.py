"""Merge directories of manifests as wholes: files by path, resources wherever they are."""
