"""Answers changed at random and judged again: of each mutant Wireproof says what it finds, and never dies of it."""
