"""Know resources: their identity, their field paths and the keys of their lists; no merging."""
