"""The commands: argument parsing, files in and out, exit codes."""
