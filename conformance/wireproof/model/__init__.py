"""What things are: transcripts, dialects, scenarios, targets, verdicts, the requirement catalogue."""
