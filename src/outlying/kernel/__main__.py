"""`python -m outlying.kernel` compiles the kernel."""

import sys

from outlying.kernel.build import main

if __name__ == "__main__":
    sys.exit(main())
