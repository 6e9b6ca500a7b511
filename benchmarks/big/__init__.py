"""Tables that outgrow memory: time, memory and bytes, beside a plain scan into histograms."""
