"""The pages of this room, for the door."""

from ingot.web.projects import creating, home

PAGES = (home.pages, creating.pages)
