"""Make text of a plan: only this package knows indentation."""
