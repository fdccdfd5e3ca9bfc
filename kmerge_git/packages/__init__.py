"""Directories of manifests, merged as wholes: files by path, resources wherever they are."""
