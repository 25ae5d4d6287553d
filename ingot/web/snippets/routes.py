"""Pages of snippets, in the order in which they are matched."""

from ingot.web.snippets import pages

PAGES = (pages.pages,)
