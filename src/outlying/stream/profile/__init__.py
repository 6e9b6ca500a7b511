"""The first pass: what all rows hold, a sample of them (a bottom-k sketch), rows that are named."""
