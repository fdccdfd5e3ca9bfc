"""Compare two versions of a file or a folder, by resource and field."""
