"""A run: its conversation, its blobs, what its client is asked to do, and what is sent."""
