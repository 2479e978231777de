"""Records a live endpoint: requests are passed on to it, and its answers become scripts that play the same again.

    client → app → live endpoint → app → client
                └→ answer → steps → scripts → file

`answer` and `scripts` are pure; only `app` and `file` do I/O.
"""
