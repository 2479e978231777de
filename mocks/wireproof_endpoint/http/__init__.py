"""HTTP around an endpoint: requests are taken, and their answers sent, as an application or on a connection."""
