"""Service integrations: chat messages, emails on push and Jira."""
