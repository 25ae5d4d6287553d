"""Integrations of a project with external services: chat, mail, Jira and other issue trackers."""
