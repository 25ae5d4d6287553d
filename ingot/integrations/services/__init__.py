"""Announcements: services that tell others what happens, in a chat or by mail; hooks in other clothes."""
