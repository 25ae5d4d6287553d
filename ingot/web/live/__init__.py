"""Live updates: server-sent events that tell an open page when the subject that it shows has changed.

A page contains an element with ``data-live``, the URL of its stream (``page_element``). A transaction announces the
topics that it changes (``subscribers``, ``core/db/announcements.py``). The script of the page then requests the page
again and replaces the parts that differ, so that permissions, filters and templates exist once.
"""
