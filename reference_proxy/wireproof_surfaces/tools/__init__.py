"""Tool calls: their names and ids, and the formats in which text holds them."""
