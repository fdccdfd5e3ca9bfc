"""Merge directories of manifests, also if files were renamed or resources were moved."""
