"""Who follows what: said by themselves, or by taking part in it."""
