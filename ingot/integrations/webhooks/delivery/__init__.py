"""How deliveries leave the house: claimed by hook, sent in order, written down in batches."""
