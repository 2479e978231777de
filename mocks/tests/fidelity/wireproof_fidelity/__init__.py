"""How faithful the mock is: recordings of real servers played again, and tables of where it differs and why."""
