"""Compare files with their versions in git: find what a merge did to them."""
