"""The answer when no script is asked for."""
