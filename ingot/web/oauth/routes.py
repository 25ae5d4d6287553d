"""The pages of this room, for the door."""

from ingot.web.oauth import applications, authorize, tokens

PAGES = (applications.pages, authorize.pages, tokens.pages)
