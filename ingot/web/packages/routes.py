"""Routes of the pages of packages and container images."""

from ingot.web.packages import images, packages

PAGES = (packages.pages, images.pages)
