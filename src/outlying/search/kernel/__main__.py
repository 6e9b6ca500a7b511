"""`python -m outlying.search.kernel` compiles the screen."""

import sys

from outlying.search.kernel.build import main

if __name__ == "__main__":
    sys.exit(main())
