"""Read kustomizations: find what they name and gather, and what is missing or there twice."""
