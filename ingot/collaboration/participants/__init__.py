"""Participants of subjects of any kind: the registry of subject kinds, mentions, and users taking part."""
