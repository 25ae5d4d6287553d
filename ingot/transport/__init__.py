"""Git over HTTP and SSH: who speaks, what they may, and how packs stream through."""
