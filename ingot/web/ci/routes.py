"""Routes of the CI pages."""

from ingot.web.ci import artifacts, jobs, pipelines
from ingot.web.page_routes import PageRoutes

PAGES: tuple[PageRoutes, ...] = (pipelines.pages, jobs.pages, artifacts.pages)
