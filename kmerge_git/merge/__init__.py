"""Three trees to one plan to text; knows no git and no files."""
