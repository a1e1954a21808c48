"""`except*` can't even be compiled before 3.11."""

import sys

collect_ignore = [] if sys.version_info >= (3, 11) else ["test_groups.py"]
