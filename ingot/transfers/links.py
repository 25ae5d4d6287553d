"""Rows that were created for objects of a source, so that an import can be continued and repeated."""
