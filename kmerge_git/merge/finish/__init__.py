"""Answers to the conflicts of a merged file: the lines that they put there, and their proof."""
