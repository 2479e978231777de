"""What is asked for, as conditions and templates see it."""
