"""Routes of the sidebar forms."""

from ingot.web.page_routes import PageRoutes
from ingot.web.sidebar.fields import sidebar_pages
from ingot.web.sidebar.subjects import SIDEBAR_KINDS

pages = PageRoutes([route for kind in SIDEBAR_KINDS for route in sidebar_pages(kind).routes])
