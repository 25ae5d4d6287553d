"""Parts that issues and merge requests share: list filters, time tracking, subscribing, milestones, system notes."""
