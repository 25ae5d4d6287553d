"""Subscriptions of users to issues, merge requests and labels."""
