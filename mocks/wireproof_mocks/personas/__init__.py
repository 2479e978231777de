"""Personas: emulated clients that hold a whole conversation with a proxy and say whether it was served."""

from wireproof_mocks.personas.chatgpt_md import CHATGPT_MD
from wireproof_mocks.personas.obsidian_copilot import OBSIDIAN_COPILOT
from wireproof_mocks.personas.opencode import OPENCODE
from wireproof_mocks.personas.persona import Persona

PERSONAS: dict[str, Persona] = {
    persona.name: persona for client in (OBSIDIAN_COPILOT, CHATGPT_MD, OPENCODE) for persona in client
}
"""Every persona, by name."""

__all__ = ["PERSONAS", "Persona"]
