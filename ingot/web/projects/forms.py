"""State and submission of pages with several forms; a rejected form is shown again with the submitted values."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from ingot.core.api.params import Upload
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.page_routes import LocalRedirect, PageResponse, TemplateResponse, Visit, form_field

INITIAL = ""
Parent = TypeVar("Parent", bound=ProjectOrGroupContext)


class FormsState(msgspec.Struct, frozen=True):
    """Submitted values and errors of one form of a page; the other forms show their initial values."""

    name: str = INITIAL
    typed: dict[str, Any] = {}
    messages: list[str] = []

    def value(self, form: str, field: str, initial: Any = "") -> Any:
        """Return the value to show in a field: the submitted one, or ``initial``."""
        return self.typed.get(field, initial) if form == self.name else initial

    def errors(self, form: str) -> list[str]:
        """Return the errors to show above a form."""
        return self.messages if form == self.name else []

    @property
    def status(self) -> int:
        """Return the HTTP status of the page."""
        return 422 if self.messages else 200


def form_values(visit: Visit, form: str, fields: Sequence[str], flags: Sequence[str] = ()) -> dict[str, Any]:
    """Return the values of a form; ``flags`` become booleans, and missing fields are empty."""
    typed: dict[str, Any] = {name: form_field(visit.request.form, form, name) for name in fields}
    return typed | {name: form_field(visit.request.form, form, name) == "1" for name in flags}


def form_list(visit: Visit, form: str, name: str) -> list[str]:
    """Return the texts of a field with several values, such as checkboxes."""
    fields = visit.request.form.get(form)
    values = fields.get(name) if isinstance(fields, dict) else None
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def nonempty_values(typed: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are not empty."""
    return {name: value for name, value in typed.items() if value != ""}


def submit_form(
    form: str,
    typed: dict[str, Any],
    action: Callable[[], object],
    show_errors: Callable[[FormsState], TemplateResponse],
    url: str,
) -> PageResponse:
    """Run ``action`` and redirect to ``url``; on errors render the page again with the submitted values."""
    try:
        action()
    except REQUEST_ERRORS as error:
        return show_errors(FormsState(form, typed, error_messages(error)))
    return LocalRedirect(url)


def submit_repository_form(
    parent: Parent,
    show_page: Callable[[Parent, FormsState], TemplateResponse],
    form: str,
    typed: dict[str, Any],
    endpoint: Callable[..., object],
    params: dict[str, Any] | None = None,
    /,
    **path: object,
) -> PageResponse:
    """Call an endpoint with a form of the repository settings of a project or group, as ``submit_form`` does."""
    url = f"{parent.url}/-/settings/repository"
    return submit_form(
        form, typed, lambda: parent.ask(endpoint, params, **path), lambda state: show_page(parent, state), url
    )


def uploaded_picture(visit: Visit) -> Upload | None:
    """Return the uploaded avatar; None if no file was chosen, which removes the current avatar."""
    picture = visit.request.form.get("avatar")
    return picture if isinstance(picture, Upload) and picture.filename else None
