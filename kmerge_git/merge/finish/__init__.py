"""Answer the conflicts of a merged file, and check that the answers change only the conflicts."""
