"""Text and HTML bodies and headers of notification emails."""

from html import escape
from typing import NamedTuple
from urllib.parse import urlsplit

from ingot.collaboration.participants.subject_kinds import SubjectKind
from ingot.collaboration.subjects import Subject
from ingot.core.markup.links import LinkContext
from ingot.core.markup.markdown import render
from ingot.core.markup.renderer import plain_text
from ingot.notifications.payload import Notification
from ingot.projects.projects.tables import Project

MAX_TEXT_LENGTH = 20_000
"""Length limit of quoted texts in emails."""


class MailContext(NamedTuple):
    """Data of a notification email."""

    notification: Notification
    kind: SubjectKind
    subject: Subject
    project: Project
    actor_name: str
    assignees: list[str]
    text: str
    """Quoted note or description, as Markdown."""
    base_url: str

    @property
    def url(self) -> str:
        """Return the URL of the subject or note."""
        anchor = f"#note_{self.notification.note_id}" if self.notification.note_id is not None else ""
        return f"{self.base_url}/{self.project.full_path}/{self.kind.path}/{self.subject.iid}{anchor}"

    @property
    def reference(self) -> str:
        """Return the short reference of the subject, such as ``#12``."""
        return f"{self.kind.sign}{self.subject.iid}"


def subject_line(context: MailContext) -> str:
    """Return the subject line, equal for the whole thread apart from "Re: "."""
    prefix = "" if context.notification.what == "opened" else "Re: "
    return f"{prefix}{context.project.name} | {context.subject.title} ({context.reference})"


def headers(context: MailContext, unsubscribe_url: str) -> dict[str, str]:
    """Return headers for threading, filtering and unsubscribing."""
    host = urlsplit(context.base_url).hostname or "localhost"
    thread_id = f"<{context.kind.kind}_{context.subject.id}@{host}>"
    list_name = ".".join(reversed(context.project.full_path.split("/")))
    headers = {
        "List-Id": f"<{list_name}.{host}>",
        "List-Unsubscribe": f"<{unsubscribe_url}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
    if context.notification.what == "opened":
        return {"Message-ID": thread_id, **headers}
    return {"In-Reply-To": thread_id, "References": thread_id, **headers}


class RenderedText(NamedTuple):
    """Quoted text in the formats of an email; rendered once for all recipients, since long texts take long."""

    text: str
    html: str


def render_text(text: str, link_context: LinkContext, *, in_html: bool) -> RenderedText:
    """Return a text in plain text and, if requested, as sanitized HTML."""
    if not text:
        return RenderedText("", "")
    html = render(text[:MAX_TEXT_LENGTH], link_context) if in_html else ""
    return RenderedText(plain_text(text, MAX_TEXT_LENGTH), html)


def text_body(context: MailContext, quoted: str, unsubscribe_url: str) -> str:
    """Return the plain text body of an email."""
    parts = [_sentence(context), *([quoted] if quoted else [])]
    return "\n\n".join(parts) + (
        f"\n\n-- \nView it: {context.url}\nUnsubscribe from this {context.kind.noun}: {unsubscribe_url}\n"
    )


def html_body(context: MailContext, quoted: str, unsubscribe_url: str) -> str:
    """Return the HTML body of an email."""
    url, unsubscribe = escape(context.url), escape(unsubscribe_url)
    return (
        f"<html><body><p>{escape(_sentence(context))}</p><div>{quoted}</div>"
        f'<p style="color:#666;font-size:small">&mdash;<br><a href="{url}">View it</a>, or '
        f'<a href="{unsubscribe}">unsubscribe from this {context.kind.noun}</a>.</p></body></html>'
    )


def _sentence(context: MailContext) -> str:
    actor, reference = context.actor_name, f"{context.kind.noun} {context.reference}"
    assigned = ", ".join(f"@{name}" for name in context.assignees) or "no one"
    sentences = {
        "opened": f"{actor} opened {reference}, assigned to {assigned}:",
        "closed": f"{actor} closed {reference}.",
        "reopened": f"{actor} reopened {reference}.",
        "merged": f"{actor} merged {reference}.",
        "reassigned": f"{actor} assigned {reference} to {assigned}.",
        "review_requested": f"{actor} requested your review of {reference}.",
        "changes_requested": f"{actor} requested changes to {reference}.",
        "relabelled": f"{actor} added a label to {reference} that you are subscribed to.",
        "noted": f"{actor} commented on {reference}:",
        "mentioned": f"{actor} mentioned you in {reference}:",
    }
    return sentences[context.notification.what]
