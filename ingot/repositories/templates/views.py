"""What callers see of templates."""

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
    """A licence with its text; ``featured`` is another name of ``popular``."""

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


def template_brief(template: Template) -> TemplateBrief:
    """The template without its text."""
    return TemplateBrief(template.name, template.name)


def template_view(template: Template) -> TemplateView:
    """The template with its text."""
    return TemplateView(template.name, template.content)


def license_view(found: License) -> LicenseView:
    """The licence with its text."""
    return LicenseView(
        found.key,
        found.name,
        found.nickname,
        found.popular,
        found.popular,
        f"http://choosealicense.com/licenses/{found.key}/",
        found.source_url,
        found.description,
        found.conditions,
        found.permissions,
        found.limitations,
        found.content,
    )
