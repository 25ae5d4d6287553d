"""Pages of wikis, in the order in which they are matched."""

from ingot.web.wikis import pages

PAGES = (pages.pages,)
