"""The Cursor agent service: its transports, its messages, and the turns that are made of them."""
