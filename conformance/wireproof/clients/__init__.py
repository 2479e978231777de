"""Clients are judged too: what runs one at Wireproof's own endpoint, and makes records of what it sent."""
