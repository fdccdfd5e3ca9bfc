"""Merge by the rules of merge2 and merge3: updated wins, null clears, nothing is a conflict."""
