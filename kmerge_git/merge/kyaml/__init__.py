"""Merge as merge2 and merge3 of kyaml do: updated wins, null clears, and no conflict is left."""
