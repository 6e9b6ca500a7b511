"""The paper, section by section, in plain NumPy: what `preset="paper"` runs.

Angiulli, Fassetti, Manco, Palopoli, "Outlying Property Detection with Numerical Attributes" (arXiv
1306.3558). Given a population DB and an object o, it finds every minimal pair (E, p): among the
rows DB_E that satisfy the conditions E, as o does, the value o[p] is exceptional.

    formulas        densities f (section 3), F, G, f_o, Omega (4), natural intervals (5.1), the
                    older method on bins (6); method 2, 3, 4 and 8
    search          DB_E, the scores of pairs, the search with sigma, theta and k (5.2; method 5),
                    and all of it as findings

It is slow and obvious on purpose, and shares formulas with the default search, but no code of it.
"""
