"""Handle bytes and lines of text, without any knowledge of YAML."""
