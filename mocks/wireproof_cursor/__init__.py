"""The mock of Cursor's agent service: the scripts of `wireproof_scripts` over RunSSE with BidiAppend, and over Run.

`runs` plays a run request, `service` chooses its script, `wire` says how messages and problems stand in bodies,
`playable` which scripts the service can play; none of these does I/O. `app` is the ASGI application, `serving` the
server on a loopback port, `unary` the procedures of one answer.
"""
