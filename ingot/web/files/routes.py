"""Routes of files and the API documentation."""

from ingot.web.files import api_docs, avatars, diagram_frame, static, uploads, wiki_files

PAGES = (avatars.pages, uploads.pages, wiki_files.pages, api_docs.pages, diagram_frame.pages, static.pages)
