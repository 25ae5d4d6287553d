"""The pages of this room, for the door."""

from ingot.web.pages import Pages

PAGES: tuple[Pages, ...] = ()
