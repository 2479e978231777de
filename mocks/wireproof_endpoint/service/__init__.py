"""What a service is like beside its answers: how long it takes, how much of it one may use, how often it fails.

All of it follows from settings and a seed; scripts say what is answered.
"""
