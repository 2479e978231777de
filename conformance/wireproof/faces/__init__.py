"""The faces of the engine: command line, pytest plugin, mock endpoint."""
