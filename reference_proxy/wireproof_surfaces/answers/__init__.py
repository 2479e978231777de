"""What a request asks for, planned: which turn is asked, and who writes its answer."""
