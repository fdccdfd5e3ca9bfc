"""A file beside its versions in git: what a merge, or who finished it, did to it."""
