"""Routes of the webhook pages."""

from ingot.web.webhooks import pages

PAGES = (pages.pages,)
