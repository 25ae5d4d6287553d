"""Requests that leave the house: what they may reach, and a client that reaches nothing else."""
