"""Add, update and compare packages from upstream, with their origin on record."""
