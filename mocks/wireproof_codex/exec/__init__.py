"""`codex exec`: one turn on the command line, played by the same core as the app-server's.

`options` reads the command line, `prompt` finds the text, `overrides` what `-c` sets; `session` is the client of the
core; `json_events` and `human` write what it sends; `running` is the process, and the only module with I/O.
"""
