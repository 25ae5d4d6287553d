"""The pages of this room, for the door."""

from ingot.web.explore import home, previews

PAGES = (home.pages, previews.pages)
