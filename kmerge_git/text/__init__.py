"""Bytes and lines; knows no YAML."""
