"""The search for pairs of context and property: the paper's level-wise one, and a guided one.

A population (in memory or streamed) answers what a pipeline asks. Its attributes give an object's
properties and conditions; contexts are generated as in apriori, screened by binned kernel densities
over bitsets, extended by beam search (guided) or visited level by level (exhaustive), and scored
exactly. What objects share is kept in one cache; reference rows say how strong a finding has to be
(conformal p-values). May import: table, method.
"""
