"""The versions of the app-server, as data."""
