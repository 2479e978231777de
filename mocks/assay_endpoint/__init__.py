"""The endpoint that `assay serve` serves: scripts, played as OpenAI's API would answer them.

    request → validated request → plan → script → events → assembly → writer → bytes

One process and one event loop. A script is played where it is asked for: there is no agent behind the endpoint and no
pipe to one. What is taken of the reference proxy is how a request is read and how an answer is written; the suite
judges this endpoint as it judges any proxy. Only `asgi`, `serving` and `__main__` do I/O: everything else takes
requests and the time, and gives what to send or until when to wait.
"""
