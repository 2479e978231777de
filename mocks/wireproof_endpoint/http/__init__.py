"""An endpoint on the edge that it shares with the reference proxy: requests are taken, and their answers sent."""
