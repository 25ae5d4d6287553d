"""The pages of this room, for the door."""

from ingot.web.admin import impersonation, overview, people, settings, things

PAGES = (overview.pages, people.pages, impersonation.pages, things.pages, settings.pages)
