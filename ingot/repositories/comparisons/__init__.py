"""Comparing references: what lies between them, where they parted, who wrote them."""
