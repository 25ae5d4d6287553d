"""Routes of the sidebar forms."""

from ingot.web.sidebar.fields import sidebar_pages
from ingot.web.sidebar.subjects import SIDEBAR_KINDS

PAGES = tuple(sidebar_pages(kind) for kind in SIDEBAR_KINDS)
