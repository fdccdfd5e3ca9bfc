"""Merge Go templates by their blocks and fields, if a text has template actions."""
