"""Make one plan from three trees: a walk, and rules that answer its questions. Write no text."""
