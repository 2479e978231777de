"""By what an endpoint is known that Wireproof serves: to its clients, to gateways in front of it, and to scenarios."""

HOST = "127.0.0.1"
SERVED_KEY = "wireproof"
"""The key that clients must send, unless another is chosen."""
UNKNOWN_MODEL = "wireproof-no-such-model"
"""A model that no target serves. An upstream that serves every other name refuses this one, so that it shows what a
gateway makes of an upstream's refusal."""
