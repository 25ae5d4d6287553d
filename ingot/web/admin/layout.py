"""What all pages for administrators share: nobody else learns that they exist."""

from typing import Any

from ingot.errors import NotFound
from ingot.web.page_routes import TemplateResponse, Visit


def render_admin_page(
    visit: Visit, template: str, tab: str, context: dict[str, Any], status: int = 200
) -> TemplateResponse:
    """A page in the frame of the administration."""
    require_admin(visit)
    return TemplateResponse(f"admin/{template}.html", {"tab": tab, **context}, status)


def require_admin(visit: Visit) -> None:
    """Stop everybody else."""
    if visit.viewer.user is None or not visit.viewer.user.admin:
        raise NotFound("Page")
