"""What writes the generated pages of `docs/` and the drawings in them; no part of the wheel."""
