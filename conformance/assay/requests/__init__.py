"""What a client sends, as data: turns of a conversation, plain requests."""
