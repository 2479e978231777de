"""The pytest plugin: the verdicts of `wireproof certify` as items of a session."""
