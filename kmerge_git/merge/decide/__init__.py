"""Three trees become one plan: a walk, and rules that answer its questions. Writes no text."""
