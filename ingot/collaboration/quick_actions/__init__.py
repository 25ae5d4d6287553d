"""Commands in what people write: what they mean for whatever is talked about, and how a room obeys them."""
