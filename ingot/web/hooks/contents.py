"""The pages of this room, for the door."""

from ingot.web.hooks import listing

PAGES = (listing.pages,)
