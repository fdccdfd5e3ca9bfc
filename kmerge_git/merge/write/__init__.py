"""Make text of a plan: only this package writes indentation."""
