"""Delivery of webhook events: hooks are claimed, their events sent in order, and outcomes written in batches."""
