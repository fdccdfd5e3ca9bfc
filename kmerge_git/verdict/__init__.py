"""Compare the versions of a merge with its result, place by place."""
