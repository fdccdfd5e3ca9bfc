"""Identify resources, show their field paths, and find the keys of their lists."""
