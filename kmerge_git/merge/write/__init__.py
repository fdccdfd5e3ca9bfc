"""A plan becomes text: the only place that knows indentation."""
