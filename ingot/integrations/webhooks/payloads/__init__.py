"""What hooks tell: one document for each thing that happened, as of the moment when it did."""
