"""What OpenAI's API does that the reference proxy leaves to its backend."""
