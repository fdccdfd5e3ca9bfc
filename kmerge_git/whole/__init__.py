"""Merge all files of a repository at once, in the index or between commits."""
