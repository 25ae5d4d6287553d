"""Routes of the OAuth pages and endpoints."""

from ingot.web.oauth import applications, authorize, tokens

PAGES = (applications.pages, authorize.pages, tokens.pages)
