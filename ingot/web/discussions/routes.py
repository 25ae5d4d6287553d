"""Routes of the discussion forms."""

from ingot.web.discussions.comments import discussion_pages
from ingot.web.discussions.discussable import DISCUSSABLE_KINDS
from ingot.web.page_routes import PageRoutes

pages = PageRoutes([route for kind in DISCUSSABLE_KINDS for route in discussion_pages(kind).routes])
