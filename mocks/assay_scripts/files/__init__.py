"""Scripts as text: YAML and JSON files read into steps, with errors that name the place."""
