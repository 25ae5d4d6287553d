"""Response structs of templates."""

from ingot.core.api.views import View
from ingot.repositories.templates.queries import License, Template


class TemplateBrief(View):
    """A template in a list."""

    key: str
    name: str


class TemplateView(View):
    """A template with its text."""

    name: str
    content: str


class LicenseView(View):
    """A license with its text; ``featured`` is an alias of ``popular``."""

    key: str
    name: str
    nickname: str | None
    popular: bool
    featured: bool
    html_url: str
    source_url: str
    description: str
    conditions: tuple[str, ...]
    permissions: tuple[str, ...]
    limitations: tuple[str, ...]
    content: str


def template_view(template: Template) -> TemplateView:
    """Return the view of a template with its text."""
    return TemplateView(template.name, template.content)


def license_view(template: License) -> LicenseView:
    """Return the view of a license with its text."""
    return LicenseView(
        template.key,
        template.name,
        template.nickname,
        template.popular,
        template.popular,
        f"http://choosealicense.com/licenses/{template.key}/",
        template.source_url,
        template.description,
        template.conditions,
        template.permissions,
        template.limitations,
        template.content,
    )
