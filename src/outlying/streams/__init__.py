"""Tables that outgrow memory: two passes over batches of rows, whoever feeds them."""
