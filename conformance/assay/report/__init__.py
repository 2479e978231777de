"""Reports: outcomes, told to people and programs."""
