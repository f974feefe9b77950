"""Battles played elsewhere, rated."""
