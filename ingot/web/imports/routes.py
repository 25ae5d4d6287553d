"""Routes of the pages of imports."""

from ingot.web.imports import archives, placeholders, runs, start

PAGES = (start.pages, archives.pages, placeholders.pages, runs.pages)
