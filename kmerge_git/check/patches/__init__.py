"""What is a patch, and what is wrong with it: directives, fields, operations."""
