"""List the decisions of a merge, place by place, from its versions and its result."""
