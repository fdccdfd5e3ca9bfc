"""Add, update and compare packages from upstream, and keep a record of their origin."""
