"""Compare a file with its versions in git, to find what a merge did to the file."""
