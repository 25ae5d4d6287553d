"""Layout and access check of the administration pages."""

from typing import Any

from ingot.core.errors import NotFound
from ingot.web.page_routes import TemplateResponse, Visit


def render_admin_page(
    visit: Visit, template: str, tab: str, context: dict[str, Any], status: int = 200
) -> TemplateResponse:
    """Render a page in the administration layout."""
    require_admin(visit)
    return TemplateResponse(f"admin/{template}.html", {"tab": tab, **context}, status)


def require_admin(visit: Visit) -> None:
    """Raise ``NotFound`` unless the user is an administrator, so that other users do not learn that the page exists."""
    if visit.viewer.user is None or not visit.viewer.user.admin:
        raise NotFound("Page")
