"""The pages of this room, for the door."""

from ingot.web.projects import creating, forking, home

PAGES = (home.pages, creating.pages, forking.pages)
