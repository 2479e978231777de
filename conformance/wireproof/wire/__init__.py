"""The wire grammar: bytes in, events and violations out. No I/O, standard library only."""
