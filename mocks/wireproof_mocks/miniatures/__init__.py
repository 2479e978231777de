"""Miniatures: the reference proxy with exactly one fault each, and none; they prove that a requirement is checked."""

from wireproof_mocks.miniatures.agent_faults import AGENT_FAULTS
from wireproof_mocks.miniatures.block_faults import BLOCK_FAULTS
from wireproof_mocks.miniatures.fault import Fault
from wireproof_mocks.miniatures.http_faults import HTTP_FAULTS
from wireproof_mocks.miniatures.messages_block_faults import MESSAGES_BLOCK_FAULTS, MESSAGES_THOUGHT_FAULTS
from wireproof_mocks.miniatures.messages_http_faults import MESSAGES_HTTP_FAULTS
from wireproof_mocks.miniatures.messages_input_faults import MESSAGES_INPUT_FAULTS
from wireproof_mocks.miniatures.messages_order_faults import MESSAGES_ORDER_FAULTS
from wireproof_mocks.miniatures.messages_whole_faults import MESSAGES_WHOLE_FAULTS
from wireproof_mocks.miniatures.other_faults import CHOICE_FAULTS, OTHER_FAULTS
from wireproof_mocks.miniatures.param_faults import PARAM_FAULTS
from wireproof_mocks.miniatures.responses_faults import RESPONSES_FAULTS
from wireproof_mocks.miniatures.sentinel_faults import SENTINEL_FAULTS
from wireproof_mocks.miniatures.shape_faults import SHAPE_FAULTS
from wireproof_mocks.miniatures.stream_faults import STREAM_FAULTS
from wireproof_mocks.miniatures.target_faults import TARGET_FAULTS
from wireproof_mocks.miniatures.turn_faults import GATEWAY_FAULTS, TURN_FAULTS

TOPICS = (
    STREAM_FAULTS, BLOCK_FAULTS, SHAPE_FAULTS, CHOICE_FAULTS, OTHER_FAULTS, TURN_FAULTS, HTTP_FAULTS, PARAM_FAULTS,
    RESPONSES_FAULTS, SENTINEL_FAULTS, MESSAGES_ORDER_FAULTS, MESSAGES_BLOCK_FAULTS, MESSAGES_THOUGHT_FAULTS,
    MESSAGES_WHOLE_FAULTS, MESSAGES_INPUT_FAULTS, MESSAGES_HTTP_FAULTS, TARGET_FAULTS, AGENT_FAULTS,
    GATEWAY_FAULTS,
)  # fmt: skip
"""The faults, by what they are about."""
FAULTS: dict[str, Fault] = {fault.name: fault for topic in TOPICS for fault in topic}
"""Every fault, by name."""

__all__ = ["FAULTS", "TOPICS", "Fault"]
