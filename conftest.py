"""How many examples property tests take: HYPOTHESIS_PROFILE is `ci` (what it is when it is not set) or `nightly`.

And how soon the mocks that tests start answer: at once, unless ASSAY_PACE says otherwise.
"""

import os

from hypothesis import settings

settings.register_profile("ci", max_examples=200, deadline=None)
settings.register_profile("nightly", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

os.environ.setdefault("ASSAY_PACE", "0")
