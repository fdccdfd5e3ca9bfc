"""Repeat past merges, and try policies on their conflicts."""
