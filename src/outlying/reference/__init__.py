"""The paper, section by section, in plain NumPy: what `preset="paper"` runs.

Angiulli, Fassetti, Manco, Palopoli, "Outlying Property Detection with Numerical Attributes" (arXiv
1306.3558). Given a population DB and an object o, it finds every minimal pair (E, p): among the
rows DB_E that satisfy the conditions E, as o does, the value o[p] is exceptional.

    densities       f: Parzen windows K of widths b_i = h * beta_i           (section 3; method 2)
    outlierness     F, G, f_o, the areas above and below, Omega               (section 4; method 3)
    intervals       natural intervals of a mixture, the conditions          (section 5.1; method 4)
    scores          DB_E and the scores of the pairs of one object
    level_wise      the search with sigma, theta and k                       (section 5.2; method 5)
    discretise      the older method, for categories only                      (section 6; method 8)
    population      all of it as findings

It is slow and obvious on purpose, and shares formulas with the default search, but no code of it.
"""
