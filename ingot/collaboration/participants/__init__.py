"""Who is involved in what people talk about, whatever kind it is: the kinds, who is named there, and who takes part."""
