"""What mails say: the same in plain text and in HTML, and the headers that keep a conversation together."""

from html import escape
from typing import NamedTuple
from urllib.parse import urlsplit

from ingot.collaboration.participants.subject_kinds import SubjectKind
from ingot.collaboration.subjects import Subject
from ingot.core.markup.links import LinkContext
from ingot.core.markup.renderer import plain_text, render
from ingot.discovery.notifications.pending import Notice
from ingot.projects.projects.tables import Project

MAX_TEXT_LENGTH = 20_000
"""So much of what somebody wrote goes into a mail; the rest is read where it stands."""


class MailContext(NamedTuple):
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


def subject_line(context: MailContext) -> str:
    """The same for the whole conversation."""
    again = "" if context.notice.what == "opened" else "Re: "
    return f"{again}{context.project.name} | {context.subject.title} ({context.reference})"


def headers(context: MailContext, unsubscribe_url: str) -> dict[str, str]:
    """What mail programs go by: which conversation, which list, and how to leave it."""
    host = urlsplit(context.base_url).hostname or "localhost"
    first = f"<{context.kind.kind}_{context.subject.id}@{host}>"
    listed = ".".join(reversed(context.project.full_path.split("/")))
    found = {
        "List-Id": f"<{listed}.{host}>",
        "List-Unsubscribe": f"<{unsubscribe_url}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
    if context.notice.what == "opened":
        return {"Message-ID": first, **found}
    return {"In-Reply-To": first, "References": first, **found}


class RenderedText(NamedTuple):
    """What somebody wrote, as each mail about it shows it; worked out once, since a long text takes long."""

    text: str
    html: str


def render_text(text: str, link_context: LinkContext, *, in_html: bool) -> RenderedText:
    """What somebody wrote as plain text and, where it is asked for, as HTML, as safe as on a page."""
    if not text:
        return RenderedText("", "")
    html = render(text[:MAX_TEXT_LENGTH], link_context) if in_html else ""
    return RenderedText(plain_text(text, MAX_TEXT_LENGTH), html)


def text_body(context: MailContext, said: str, unsubscribe_url: str) -> str:
    """The mail as plain text."""
    parts = [_sentence(context), *([said] if said else [])]
    return "\n\n".join(parts) + (
        f"\n\n-- \nRead it: {context.url}\nNo more mail about this {context.kind.noun}: {unsubscribe_url}\n"
    )


def html_body(context: MailContext, said: str, unsubscribe_url: str) -> str:
    """The mail as HTML."""
    url, leave = escape(context.url), escape(unsubscribe_url)
    return (
        f"<html><body><p>{escape(_sentence(context))}</p><div>{said}</div>"
        f'<p style="color:#666;font-size:small">&mdash;<br><a href="{url}">Read it</a>, or '
        f'<a href="{leave}">get no more mail about this {context.kind.noun}</a>.</p></body></html>'
    )


def _sentence(context: MailContext) -> str:
    who, what = context.actor_name, f"{context.kind.noun} {context.reference}"
    assigned = ", ".join(f"@{name}" for name in context.assignees) or "nobody"
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
    return sentences[context.notice.what]
