"""Backend events assembled into choices: calls and text separated, reconciled, in order."""
