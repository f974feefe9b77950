"""Experiments that play something and then say what it shows; each is imported from its own module."""
