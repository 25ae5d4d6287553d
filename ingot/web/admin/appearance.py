"""Administration page of the appearance, and the stylesheet and manifest that follow from it."""

import json
from typing import Any

from ingot.accounts.appearance import api as appearance_api
from ingot.accounts.appearance.records import IMAGES, current_appearance
from ingot.core.api.params import Upload
from ingot.core.db.connection import Connection
from ingot.web.admin.layout import render_admin_page, require_admin
from ingot.web.files.static import versioned_url
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import (
    BytesResponse,
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    form_field,
)

pages = PageRoutes()
TEXTS: dict[str, tuple[str, str]] = {
    "title": ("Title of the home and sign-in page", "text"),
    "description": ("Description on the home and sign-in page", "long"),
    "header_message": ("Header message", "text"),
    "footer_message": ("Footer message", "text"),
    "message_background_color": ("Background color of the messages", "color"),
    "message_font_color": ("Font color of the messages", "color"),
    "new_project_guidelines": ("New project guidelines", "long"),
    "member_guidelines": ("Member guidelines", "long"),
    "profile_image_guidelines": ("Profile image guidelines", "long"),
    "pwa_name": ("Name of the web app", "text"),
    "pwa_short_name": ("Short name of the web app", "text"),
    "pwa_description": ("Description of the web app", "text"),
}
IMAGE_LABELS = {
    "logo": "Logo of the home and sign-in page",
    "header_logo": "Logo of the navigation bar",
    "favicon": "Favicon",
    "pwa_icon": "Icon of the web app",
}
_STYLE = """\
.header-logo{height:1.5rem;max-width:10rem;object-fit:contain}
.introduction{max-width:24rem;margin:var(--space-6) auto calc(-1*var(--space-2));overflow-wrap:anywhere}
.instance-logo{max-width:100%;max-height:8rem}
.instance-title{margin:0;font-size:1.5rem;font-weight:600}
.system-message{margin:0;padding:.25rem var(--edges);text-align:center;font-size:.875rem;overflow-wrap:anywhere}
"""
_FOR_A_MINUTE = [(b"cache-control", b"public, max-age=60")]


@pages.get("/admin/application_settings/appearance")
def show_appearance(visit: Visit, db: Connection) -> PageResponse:
    """Show the form of the appearance."""
    require_admin(visit)
    appearance = current_appearance(db)
    names = (*TEXTS, "email_header_and_footer_enabled")
    return _appearance_form(visit, {name: getattr(appearance, name) for name in names})


@pages.put("/admin/application_settings/appearance", notice="Appearance saved.", limit=2**21)
def update_appearance(visit: Visit) -> PageResponse:
    """Change the appearance; an image without a file is unchanged."""
    require_admin(visit)
    form = visit.request.form
    typed: dict[str, Any] = {name: form_field(form, "appearance", name) for name in TEXTS}
    typed["email_header_and_footer_enabled"] = form_field(form, "appearance", "email_header_and_footer_enabled") == "1"
    fields = form.get("appearance")
    uploads = {name: fields[name] for name in IMAGES if isinstance(fields, dict) and name in fields}
    images: dict[str, Any] = {
        name: upload for name, upload in uploads.items() if isinstance(upload, Upload) and upload.filename
    }
    removed = [name for name in IMAGES if form_field(form, "appearance", f"remove_{name}") == "1"]
    try:
        visit.ask(appearance_api.change_appearance, {**typed, **dict.fromkeys(removed), **images})
    except REQUEST_ERRORS as error:
        return _appearance_form(visit, typed, error_messages(error), 422)
    finally:
        for upload in uploads.values():
            if isinstance(upload, Upload):
                upload.file.close()
    return LocalRedirect("/admin/application_settings/appearance")


def _appearance_form(
    visit: Visit, typed: dict[str, Any], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    context = {"texts": TEXTS, "images": IMAGE_LABELS, "typed": typed, "errors": errors or []}
    return render_admin_page(visit, "appearance", "appearance", context, status)


@pages.get("/-/appearance.css", open=True, with_expired_password=True)
def show_message_colors(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page takes the visit.
    """Return the style of what the appearance adds: pages allow no styles within them, and the colors were checked."""
    appearance = current_appearance(db)
    colors = f"background:{appearance.message_background_color};color:{appearance.message_font_color}"
    style = f"{_STYLE}.system-message{{{colors}}}\n"
    return BytesResponse(style.encode(), "text/css; charset=utf-8", _FOR_A_MINUTE)


@pages.get("/-/manifest.json", open=True, with_expired_password=True)
def show_manifest(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page takes the visit.
    """Return the manifest of the web app."""
    appearance = current_appearance(db)
    icon, url = appearance.pwa_icon, appearance.image_url("pwa_icon")
    manifest = {
        "name": appearance.pwa_name or "Ingot",
        "short_name": appearance.pwa_short_name or appearance.pwa_name or "Ingot",
        "description": appearance.pwa_description,
        "start_url": "/",
        "display": "standalone",
        "icons": [
            {"src": url, "type": icon.content_type, "sizes": "any"}
            if icon
            else {"src": versioned_url("ingot.svg"), "type": "image/svg+xml", "sizes": "any"}
        ],
    }
    return BytesResponse(json.dumps(manifest).encode(), "application/manifest+json", _FOR_A_MINUTE)
