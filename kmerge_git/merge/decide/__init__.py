"""Make one plan from three trees: the walk visits places, and rules decide. Write no text."""
