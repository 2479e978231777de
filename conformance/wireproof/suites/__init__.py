"""The suite as pytest collects it: `pytest --pyargs wireproof.suites --wireproof-url URL`."""
