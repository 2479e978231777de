"""What is told, message by message, in the words of each version."""
