"""Check a merge result: prove the plan, check laws, compare with a line merge, find damage."""
