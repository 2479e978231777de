"""A folder of notes: what is in it, and the tools that search and read it."""
