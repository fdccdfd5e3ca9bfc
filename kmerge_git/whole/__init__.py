"""Merges of whole repositories: in an index, as trees, of branches, or made again."""
