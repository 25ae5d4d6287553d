"""Commits that the API makes: of actions on files, cherry-picked, reverted."""
