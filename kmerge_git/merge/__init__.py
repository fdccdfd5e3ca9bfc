"""Merge three trees into a plan, and write the plan as text; nothing here uses git or files."""
