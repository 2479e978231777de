"""The ids of all items begin with this module's name; here `wireproof.pytest_plugin` collects its items."""
