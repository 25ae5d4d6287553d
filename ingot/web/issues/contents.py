"""The pages of this room, for the door."""

from ingot.web.issues import acting, listing, showing, writing

PAGES = (listing.pages, showing.pages, writing.pages, acting.pages)
