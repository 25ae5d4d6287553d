"""What mails say: the same in plain text and in HTML, and the headers that keep a conversation together."""

from html import escape
from typing import NamedTuple
from urllib.parse import urlsplit

from ingot.involvement.kinds import SubjectKind
from ingot.markup.links import Place
from ingot.markup.rendering import plain_text, render
from ingot.notifications.notices import Notice
from ingot.projects.tables import Project
from ingot.subjects import Subject

LONGEST_TEXT = 20_000
"""So much of what somebody wrote goes into a mail; the rest is read where it stands."""


class Occasion(NamedTuple):
    """All that a mail speaks of."""

    notice: Notice
    kind: SubjectKind
    subject: Subject
    project: Project
    actor_name: str
    assignees: list[str]
    text: str
    """What somebody wrote, as markdown."""
    base_url: str

    @property
    def url(self) -> str:
        """Where it is read."""
        mark = f"#note_{self.notice.note_id}" if self.notice.note_id is not None else ""
        return f"{self.base_url}/{self.project.full_path}/{self.kind.path}/{self.subject.iid}{mark}"

    @property
    def reference(self) -> str:
        """How it is referred to."""
        return f"{self.kind.sign}{self.subject.iid}"


def subject_line(occasion: Occasion) -> str:
    """The same for the whole conversation."""
    again = "" if occasion.notice.what == "opened" else "Re: "
    return f"{again}{occasion.project.name} | {occasion.subject.title} ({occasion.reference})"


def headers(occasion: Occasion, unsubscribe_url: str) -> dict[str, str]:
    """What mail programs go by: which conversation, which list, and how to leave it."""
    host = urlsplit(occasion.base_url).hostname or "localhost"
    first = f"<{occasion.kind.kind}_{occasion.subject.id}@{host}>"
    listed = ".".join(reversed(occasion.project.full_path.split("/")))
    found = {
        "List-Id": f"<{listed}.{host}>",
        "List-Unsubscribe": f"<{unsubscribe_url}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
    if occasion.notice.what == "opened":
        return {"Message-ID": first, **found}
    return {"In-Reply-To": first, "References": first, **found}


class Said(NamedTuple):
    """What somebody wrote, as each mail about it shows it; worked out once, since a long text takes long."""

    text: str
    html: str


def what_was_said(text: str, place: Place, *, in_html: bool) -> Said:
    """What somebody wrote as plain text and, where it is asked for, as HTML, as safe as on a page."""
    if not text:
        return Said("", "")
    html = render(text[:LONGEST_TEXT], place) if in_html else ""
    return Said(plain_text(text, LONGEST_TEXT), html)


def text_body(occasion: Occasion, said: str, unsubscribe_url: str) -> str:
    """The mail as plain text."""
    parts = [_sentence(occasion), *([said] if said else [])]
    return "\n\n".join(parts) + (
        f"\n\n-- \nRead it: {occasion.url}\nNo more mail about this {occasion.kind.noun}: {unsubscribe_url}\n"
    )


def html_body(occasion: Occasion, said: str, unsubscribe_url: str) -> str:
    """The mail as HTML."""
    url, leave = escape(occasion.url), escape(unsubscribe_url)
    return (
        f"<html><body><p>{escape(_sentence(occasion))}</p><div>{said}</div>"
        f'<p style="color:#666;font-size:small">&mdash;<br><a href="{url}">Read it</a>, or '
        f'<a href="{leave}">get no more mail about this {occasion.kind.noun}</a>.</p></body></html>'
    )


def _sentence(occasion: Occasion) -> str:
    who, what = occasion.actor_name, f"{occasion.kind.noun} {occasion.reference}"
    assigned = ", ".join(f"@{name}" for name in occasion.assignees) or "nobody"
    sentences = {
        "opened": f"{who} opened {what}, which is assigned to {assigned}:",
        "closed": f"{who} closed {what}.",
        "reopened": f"{who} reopened {what}.",
        "merged": f"{who} merged {what}.",
        "reassigned": f"{who} assigned {what} to {assigned}.",
        "relabelled": f"{who} put a label that you follow on {what}.",
        "noted": f"{who} commented on {what}:",
        "mentioned": f"{who} mentioned you in {what}:",
    }
    return sentences[occasion.notice.what]
