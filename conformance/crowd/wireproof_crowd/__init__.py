"""Proof by crowds: proxies with many faults at once, drawn from a seed, of which one run must find each."""
