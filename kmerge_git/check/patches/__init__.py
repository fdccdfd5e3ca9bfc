"""Recognise patches, and find wrong directives, fields and operations in patches."""
