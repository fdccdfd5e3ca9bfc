"""Check a merge result: by proof against the plan, by laws, by a line merge, and for damage."""
