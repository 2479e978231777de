"""How messages and problems stand on the wire."""
