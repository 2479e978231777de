"""The routes of the proxy, in a blueprint for each surface; the blueprint's name is the surface's in `/metrics`."""
