"""The rules of merge2 and merge3: the updated side wins, null clears, nothing is a conflict."""
