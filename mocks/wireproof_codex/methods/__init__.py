"""The requests: which are admitted, and what each does."""
