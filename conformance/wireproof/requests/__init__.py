"""What a client sends, as data: the turns of a conversation, and plain requests."""
