"""Cron expressions and their time zones."""
