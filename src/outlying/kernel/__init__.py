"""The kernel in C, where a compiler was at hand: the same figures as by NumPy, many times faster.

`build` compiles the sources beside this, `library` finds and calls the build. OUTLYING_KERNEL
chooses: "numpy" does without it, "compiled" insists on it, the name of a build takes that one.
"""
