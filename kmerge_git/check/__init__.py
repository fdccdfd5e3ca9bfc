"""The checks behind the hooks: one mistake a function, and a registry of them."""
