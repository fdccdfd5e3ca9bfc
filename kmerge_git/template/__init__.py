"""Go templates as structure: actions, lines, blocks; entered only for text with actions."""
