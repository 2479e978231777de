"""The command line: `wireproof` and its commands."""
