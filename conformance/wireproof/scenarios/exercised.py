"""Groups of requirements that many scenarios exercise together: on every surface, in a stream and whole."""

MESSAGE_ARRIVES = ("responses.stream.sums", "responses.whole.message", "messages.stream.text", "messages.whole.text")
TEXT_ARRIVES = ("chat.stream.text", "chat.whole.text", *MESSAGE_ARRIVES)
CALLS_ARRIVE = (
    "responses.stream.sums", "responses.whole.call-items", "messages.stream.arguments", "messages.whole.calls",
)  # fmt: skip
ARGUMENTS_VERBATIM = ("chat.stream.arguments-verbatim", "chat.whole.arguments-verbatim")
FINISH_REASON = (
    "chat.stream.finish-reason",
    "chat.whole.finish",
    "messages.stream.stop-reason",
    "messages.whole.stop-reason",
)
RESPONSE_ENDS = ("responses.stream.terminal", "responses.whole.envelope")
MESSAGES_FAIL = ("messages.stream.error-in-stream", "messages.whole.envelope")
BACKEND_FAILS = ("chat.whole.backend-error", "http.error.no-internals", *RESPONSE_ENDS, *MESSAGES_FAIL)
FAILS_FIRST = (
    "chat.stream.error-before-output", "messages.stream.error-before-output", *BACKEND_FAILS, "http.error.envelope",
    "messages.error.envelope",
)  # fmt: skip
MODES_AGREE = ("chat.stream.parity", "responses.parity", "messages.parity")
