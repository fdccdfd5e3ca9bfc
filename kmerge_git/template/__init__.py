"""Merge Go templates by their blocks and fields; only text with actions comes here."""
