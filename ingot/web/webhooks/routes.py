"""The pages of this room, for the door."""

from ingot.web.webhooks import pages

PAGES = (pages.pages,)
