"""What the general settings of projects and groups have in common: forms in parts, a picture, and the end."""

from collections.abc import Callable, Mapping
from typing import Any

from ingot.errors import Invalid, NotFound
from ingot.web.issues.group_place import GroupPlace
from ingot.web.pages import Page, Reply, Visit
from ingot.web.projects.deleting import farewell
from ingot.web.projects.forms import Forms, picture_in, texts_of, tried
from ingot.web.projects.place import Place

Parts = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""The forms of a page, with their texts and their switches."""
Again = Callable[[Forms], Page]


def part_of(visit: Visit, parts: Parts) -> tuple[str, dict[str, Any]]:
    """Which of the forms was sent, and what was typed into it."""
    part = str(visit.form.get("part", ""))
    if part not in parts:
        raise NotFound("Form")
    return part, texts_of(visit, part, *parts[part])


def change_picture(ground: Place | GroupPlace, again: Again) -> Reply:
    """Show another picture, or none."""
    sent = {"avatar": picture_in(ground.visit)}
    return tried("avatar", {}, lambda: ground.call("PUT", "", sent), again, f"{ground.url}/-/edit")


def delete(ground: Place | GroupPlace, full_path: str, projects: int, again: Again) -> Reply:
    """Delete it with everything in it, for those who typed its path, and show how that goes."""
    typed = texts_of(ground.visit, "delete", ("confirm",))

    def act() -> None:
        if typed["confirm"] != full_path:
            raise Invalid(base=[f"Type {full_path} to delete it"])
        ground.call("DELETE", "")

    kind = "project" if isinstance(ground, Place) else "group"
    return tried("delete", typed, act, again, farewell(ground.visit, kind, full_path, projects))
