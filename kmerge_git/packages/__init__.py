"""Merge directories of manifests: match files by path, and resources wherever they are."""
