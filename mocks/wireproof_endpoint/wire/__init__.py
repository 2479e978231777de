"""What a script does to HTTP, and to the connection below it."""
