"""Findings and results as text, JSON, GitHub annotations and SARIF."""
