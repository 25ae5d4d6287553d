"""The pages of this room, for the door."""

from ingot.web.admin import overview, people, settings, things

PAGES = (overview.pages, people.pages, things.pages, settings.pages)
