"""Appearance of the instance: texts, colors and images with which administrators adapt the pages and mails."""
