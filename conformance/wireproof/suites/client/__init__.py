"""The suite of clients: `pytest --pyargs wireproof.suites.client --wireproof-client 'COMMAND'`."""
