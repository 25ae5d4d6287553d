"""Response structs of changelogs."""

from ingot.core.api.views import View


class ChangelogView(View):
    """Release notes."""

    notes: str
