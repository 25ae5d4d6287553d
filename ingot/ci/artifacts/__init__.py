"""Files that jobs upload, and the reports among them."""
