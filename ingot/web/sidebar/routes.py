"""Routes of the sidebar forms."""

from ingot.web.sidebar.fields import sidebar_pages
from ingot.web.sidebar.subjects import SIDEBAR_KINDS

PAGES = tuple(sidebar_pages(sort) for sort in SIDEBAR_KINDS)
