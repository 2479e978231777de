"""Miniature clients: one that keeps every rule, and the same with exactly one fault each.

`python -m wireproof_mocks.clients --stream 'prompt'` is the faultless one, `--fault NAME` one with that fault. They
share nothing with the suite, which is to find the faults by what they send.
"""

from wireproof_mocks.clients.client import MiniatureClient
from wireproof_mocks.clients.faults import FAULTS, ClientFault
from wireproof_mocks.clients.forms import FORMS, NoAnswerError

__all__ = ["FAULTS", "FORMS", "ClientFault", "MiniatureClient", "NoAnswerError"]
