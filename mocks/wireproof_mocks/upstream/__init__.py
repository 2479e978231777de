"""A scripted model's service: a Responses endpoint that plays the scripts of `wireproof_scripts` behind a real Codex.

`playable` says which scripts a service can play, `service` chooses the script of a request, `reply` plays it, `writing`
makes its events, `failing` its failures; `serving` puts it on a port, as endpoints are.
"""
