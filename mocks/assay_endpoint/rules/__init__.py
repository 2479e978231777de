"""What of a request is refused, and what it asks of an answer that no script says. Pure."""
