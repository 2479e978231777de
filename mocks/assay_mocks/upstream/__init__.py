"""A scripted Responses endpoint: the model's service that a real Codex is given, playing the scripts of the mock."""
