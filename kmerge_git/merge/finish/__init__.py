"""Answers to the conflicts of a merged file: what they put there, and whether they may stand."""
