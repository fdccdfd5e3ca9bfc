"""Check a merge result against its plan, laws and a line merge, and find damage."""
