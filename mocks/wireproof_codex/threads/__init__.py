"""Threads, those in memory and those on the disk."""
