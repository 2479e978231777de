"""The language of scripts: what a mock backend sends to its client, step by step.

A script is chosen by a marker in the user's text, `[[assay:<script>#<nonce>]]`, or by a text that the user's message
contains. One language, several players: the mock of the Codex app-server (`assay_codex`), the model's service behind a
real Codex (`assay_mocks.upstream`). The conformance suite reads the same scripts to know what a right answer is. This
package imports none of them.

The language      `steps` (all steps, and `Script`), `usage`, `causes` of failures, `kinds` of fields
In files          `files`: YAML and JSON, errors with their place, the JSON Schema
Scripts           `library`: those of the suite
Choosing          `markers`, `conversation`, `nonces`, `selection`; without a script `default_answer`, `schema_example`
Playing           `player`: the steps of a part against a clock; `call_shapes` and `blocks`: how a call is written
"""
