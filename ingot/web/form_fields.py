"""Fields of forms as elements of pages."""

from markupsafe import Markup, escape

from ingot.web.page_routes import Visit


def token_field(visit: Visit) -> Markup:
    """Return the hidden field with the CSRF token, which every form needs; a page has about ten."""
    return Markup(f'<input type="hidden" name="authenticity_token" value="{escape(visit.viewer.csrf)}">')  # noqa: S704 - The value is escaped.
