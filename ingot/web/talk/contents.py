"""The pages of this room, for the door."""

from ingot.web.talk import snippets, wikis

PAGES = (snippets.pages, wikis.pages)
