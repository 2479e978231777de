"""What a run comes to: the certificate."""
