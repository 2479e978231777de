"""The language of scripts: what a mock backend sends to its client, step by step.

A script is chosen by a marker in the user's text, `[[wireproof:<script>#<nonce>]]`, or by a condition on what is asked.
One language, several players: the endpoint (`wireproof_endpoint`), the mocks of the Codex app-server
(`wireproof_codex`) and of Cursor's service (`wireproof_cursor`), the model's service behind a real Codex
(`wireproof_mocks.upstream`). The conformance suite reads the same scripts to know what a right answer is. This package
imports none of them.

The language      `steps` (all steps, conditions, causes of failures, and `Script`), `usage`, `kinds` of fields
In files          `files`: YAML and JSON, errors with their place, the JSON Schema
Scripts           `library`: those of the suite
Choosing          `markers`, `conversation`, `asked`, `nonces`, `selection`; without a script `default`
Playing           `player`: the steps of a part against a clock; `call_shapes` and `blocks`: how a call is written
"""
