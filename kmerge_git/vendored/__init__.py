"""Packages from upstream with their origin on record: added, updated, compared."""
