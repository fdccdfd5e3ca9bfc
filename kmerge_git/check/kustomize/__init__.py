"""Read kustomizations: find the files that they name, and missing or repeated resources."""
