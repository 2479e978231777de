"""What a client is judged by: a module for each topic of `requirements/client.toml`.

A check is a function of a record, which is all that a client did in one scenario. It yields an `Occasion` for each
place at which its row could be broken, whether it is or not. Without any the row was not observed, for the reason that
the check is registered with.
"""

from wireproof.judging.client_checks import calls, connection, conversation, failures, retries, validity
from wireproof.judging.client_checks.registry import ClientChecks

CLIENT_CHECKS = ClientChecks(
    validity.check, calls.check, conversation.check, failures.check, retries.check, connection.check
)
"""The check of every row about clients."""

__all__ = ["CLIENT_CHECKS"]
