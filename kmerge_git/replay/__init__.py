"""Past merges made again, and policies tried on them."""
