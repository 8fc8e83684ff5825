"""`python -m trainwright_operator`."""

from __future__ import annotations

import sys

from trainwright_operator.main import main

sys.exit(main())
