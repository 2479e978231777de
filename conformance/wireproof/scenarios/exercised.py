"""Groups of requirements that many scenarios exercise together: in chat and in Responses, in a stream and whole."""

MESSAGE_ARRIVES = ("responses.stream.sums", "responses.whole.message")
TEXT_ARRIVES = ("chat.stream.text", "chat.whole.text", *MESSAGE_ARRIVES)
CALLS_ARRIVE = ("responses.stream.sums", "responses.whole.call-items")
ARGUMENTS_VERBATIM = ("chat.stream.arguments-verbatim", "chat.whole.arguments-verbatim")
FINISH_REASON = ("chat.stream.finish-reason", "chat.whole.finish")
RESPONSE_ENDS = ("responses.stream.terminal", "responses.whole.envelope")
BACKEND_FAILS = ("chat.whole.backend-error", "http.error.no-internals", *RESPONSE_ENDS)
MODES_AGREE = ("chat.stream.parity", "responses.parity")
