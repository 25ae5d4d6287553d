"""Tokens of running jobs and their scope."""
