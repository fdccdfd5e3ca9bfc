"""Render findings and results as text, JSON, Markdown, GitHub annotations and SARIF."""
