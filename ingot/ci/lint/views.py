"""Response structs of the CI lint."""

from typing import Literal

from ingot.core.api.views import View


class LintView(View):
    """Result of a validation."""

    status: Literal["valid", "invalid"]
    errors: list[str]
    warnings: list[str]
