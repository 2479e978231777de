"""The suite as pytest collects it: `pytest --pyargs assay.suites --assay-url URL`."""
