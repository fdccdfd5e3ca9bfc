"""Merge files with Go template actions by their blocks and fields."""
