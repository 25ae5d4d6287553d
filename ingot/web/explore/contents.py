"""The pages of this room, for the door."""

from ingot.web.explore import activity, help, home, previews, search

PAGES = (activity.pages, help.pages, home.pages, search.pages, previews.pages)
