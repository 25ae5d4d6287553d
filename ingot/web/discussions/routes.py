"""Routes of the discussion forms."""

from ingot.web.discussions import completions
from ingot.web.discussions.comments import discussion_pages
from ingot.web.discussions.discussable import DISCUSSABLE_KINDS

PAGES = (completions.pages, *(discussion_pages(kind) for kind in DISCUSSABLE_KINDS))
