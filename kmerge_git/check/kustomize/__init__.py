"""Kustomizations: what they name, what they gather, and what is missing or there twice."""
