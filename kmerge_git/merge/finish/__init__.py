"""Answer the conflicts of a merged file, and prove that the answers change only the conflicts."""
