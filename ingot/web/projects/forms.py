"""Pages with several forms: one of them is sent, and comes back as it was typed where it is refused."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ingot.core.api.params import Upload
from ingot.web.form_errors import RequestRefusal, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, TemplateResponse, Visit, form_field

INITIAL = ""


class FormsState(msgspec.Struct, frozen=True):
    """What was typed into one form of a page, and why that was refused; the others begin as they are."""

    name: str = INITIAL
    typed: dict[str, Any] = {}
    refused: list[str] = []

    def value(self, form: str, field: str, start: Any = "") -> Any:
        """What a field holds."""
        return self.typed.get(field, start) if form == self.name else start

    def errors(self, form: str) -> list[str]:
        """What stands above a form."""
        return self.refused if form == self.name else []

    @property
    def status(self) -> int:
        """How the page is answered."""
        return 422 if self.refused else 200


def form_values(visit: Visit, form: str, fields: Sequence[str], flags: Sequence[str] = ()) -> dict[str, Any]:
    """What was typed into a form; flags are true or false, and what the form did not hold is empty."""
    typed: dict[str, Any] = {name: form_field(visit.request.form, form, name) for name in fields}
    return typed | {name: form_field(visit.request.form, form, name) == "1" for name in flags}


def nonempty_values(typed: dict[str, Any]) -> dict[str, Any]:
    """What is not empty."""
    return {name: value for name, value in typed.items() if value != ""}


def submit_form(
    form: str,
    typed: dict[str, Any],
    act: Callable[[], object],
    again: Callable[[FormsState], TemplateResponse],
    there: str,
) -> PageResponse:
    """Do it and lead there, or show the page again with what was typed."""
    try:
        act()
    except RequestRefusal as refusal:
        return again(FormsState(form, typed, error_messages(refusal)))
    return LocalRedirect(there)


def uploaded_picture(visit: Visit) -> Upload | None:
    """The picture that a form brought; nothing where none was chosen, which takes the old one away."""
    picture = visit.request.form.get("avatar")
    return picture if isinstance(picture, Upload) and picture.filename else None
