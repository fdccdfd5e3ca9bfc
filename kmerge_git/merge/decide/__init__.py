"""Make one plan from three trees: a walk visits every place, and rules decide each place."""
