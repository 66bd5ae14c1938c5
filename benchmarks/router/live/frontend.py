"""Our frontend for a load that runs faster than it was recorded: ``python -m benchmarks.router.live.frontend``.

The policy has two times, how soon sessions return and how long work is remembered. A load of a twentieth of the time
has them in a twentieth, or the policy would take everybody who waits for gone or for here. All else is as it serves.
"""

from unittest.mock import patch

import msgspec

from benchmarks.router.live.slice import SPEED
from components.frontend import places
from components.frontend.__main__ import main
from router.sticky import Weights


def quick() -> Weights:
    """Return the weights that serve, their times as the load's."""
    served = Weights()
    return msgspec.structs.replace(
        served, return_age_s=served.return_age_s / SPEED, half_life_s=served.half_life_s / SPEED
    )


if __name__ == "__main__":
    with patch.object(places, "Weights", quick):
        main()
