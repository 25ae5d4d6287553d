"""Files of static sites in the storage: how they are written, and where each page is in them."""
