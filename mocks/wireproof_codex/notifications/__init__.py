"""The notifications of turns and threads: what each holds (`messages`, `*_messages`), and who sends it."""
