"""Account for a merge, place by place, from its versions and its result."""
