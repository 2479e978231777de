"""The notifications of turns and threads: what each holds (`messages`, `*_messages`, `legacy*`), and who sends it."""
