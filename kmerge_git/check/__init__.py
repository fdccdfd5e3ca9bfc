"""The checks behind the hooks: one idea a function, and a registry of them."""
