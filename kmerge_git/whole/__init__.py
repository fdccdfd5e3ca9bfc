"""Merges of whole repositories: solve an index, preview a merge, replay a history."""
