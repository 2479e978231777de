"""Tool calls: from what a backend told to what a choice says."""
