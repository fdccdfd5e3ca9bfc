"""Merges of whole repositories: in an index, as trees, of branches, made again, or long past."""
