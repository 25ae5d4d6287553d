"""Pages with several forms: one of them is sent, and comes back as it was typed where it is refused."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ingot.api.params import Upload
from ingot.web.pages import Page, Redirect, Reply, Visit, form_part
from ingot.web.refusals import Refusal, sentences

AT_FIRST = ""


class Forms(msgspec.Struct, frozen=True):
    """What was typed into one form of a page, and why that was refused; the others begin as they are."""

    name: str = AT_FIRST
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


def texts_of(visit: Visit, form: str, fields: Sequence[str], flags: Sequence[str] = ()) -> dict[str, Any]:
    """What was typed into a form; flags are true or false, and what the form did not hold is empty."""
    typed: dict[str, Any] = {name: form_part(visit.form, form, name) for name in fields}
    return typed | {name: form_part(visit.form, form, name) == "1" for name in flags}


def filled(typed: dict[str, Any]) -> dict[str, Any]:
    """What is not empty."""
    return {name: value for name, value in typed.items() if value != ""}


def tried(
    form: str, typed: dict[str, Any], act: Callable[[], object], again: Callable[[Forms], Page], there: str
) -> Reply:
    """Do it and lead there, or show the page again with what was typed."""
    try:
        act()
    except Refusal as refusal:
        return again(Forms(form, typed, sentences(refusal)))
    return Redirect(there)


def picture_in(visit: Visit) -> Upload | None:
    """The picture that a form brought; nothing where none was chosen, which takes the old one away."""
    picture = visit.form.get("avatar")
    return picture if isinstance(picture, Upload) and picture.filename else None
