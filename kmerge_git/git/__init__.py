"""Everything that asks or changes a git repository."""
