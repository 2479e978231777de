"""The mock of Cursor's agent service: the scripts of `wireproof_scripts` over RunSSE with BidiAppend, and over Run.

`runs` chooses the script of a run request and plays it, `service` finds the run of a request id, `wire` says how
messages and problems stand in bodies, `playable` which scripts the service can play; none of these does I/O. `app` is
the ASGI application, `serving` the server on a loopback port, `unary` the procedures of one answer.
"""
