"""Merge whole repositories: in the index, as trees or branches, or by repeating past merges."""
