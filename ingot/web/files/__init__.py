"""Static files, avatars, uploads, wiki files and the API documentation page."""
