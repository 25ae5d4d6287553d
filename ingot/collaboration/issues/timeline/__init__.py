"""Timelines of incidents: what happened when, written by developers."""
