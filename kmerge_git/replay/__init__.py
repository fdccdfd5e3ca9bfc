"""Repeat past merges, and try merge policies on the conflicts."""
