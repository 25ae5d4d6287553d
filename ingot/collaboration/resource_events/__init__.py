"""Histories: who gave something labels, a milestone or another state, and when."""
