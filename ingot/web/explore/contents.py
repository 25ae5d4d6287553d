"""The pages of this room, for the door."""

from ingot.web.explore import activity, home, previews, search

PAGES = (activity.pages, home.pages, search.pages, previews.pages)
