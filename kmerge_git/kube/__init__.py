"""Nodes to resources: identity, field paths, list keys; knows no merging."""
