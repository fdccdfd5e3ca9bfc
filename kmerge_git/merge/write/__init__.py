"""Write a plan as text; only this package writes indentation."""
