"""Provide the commands: their arguments, their input and output, their exit codes."""
