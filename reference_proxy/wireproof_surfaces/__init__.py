"""The wire that the proxy and the endpoint share: requests read, answers assembled and written, HTTP's edge."""
