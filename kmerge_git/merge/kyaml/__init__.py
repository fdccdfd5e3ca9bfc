"""Merge by the rules of merge2 and merge3: updated wins, null clears, and no conflict is left."""
