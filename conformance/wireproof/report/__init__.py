"""Reports: results and scenarios as text, JSON and pages."""
