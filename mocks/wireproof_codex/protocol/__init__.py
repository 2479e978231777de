"""The app-server protocol below versions: JSON-RPC lines, parameters, outputs, ids."""
