"""The pages of this room, for the door."""

from ingot.web.merge_requests import acting, changes, editing, listing, offering, showing

PAGES = (listing.pages, offering.pages, showing.pages, changes.pages, editing.pages, acting.pages)
