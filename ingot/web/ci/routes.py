"""Routes of the CI pages."""

from ingot.web.ci import artifacts, badges, environments, feature_flags, jobs, lint_page, pipelines, runners, schedules
from ingot.web.page_routes import PageRoutes

PAGES: tuple[PageRoutes, ...] = (
    pipelines.pages,
    jobs.pages,
    artifacts.pages,
    runners.pages,
    schedules.pages,
    lint_page.pages,
    environments.pages,
    feature_flags.pages,
    badges.pages,
)
