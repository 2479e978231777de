"""How a user is asked whether a tool call may run: not at all, in the terminal, or on a page."""
