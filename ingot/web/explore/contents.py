"""The pages of this room, for the door."""

from ingot.web.explore import home, previews, search

PAGES = (home.pages, search.pages, previews.pages)
