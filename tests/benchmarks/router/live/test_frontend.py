"""Our frontend for a load that runs faster than it was recorded."""

from benchmarks.router.live.frontend import quick
from benchmarks.router.live.slice import SPEED
from components.frontend import places
from router.sticky import Weights


def test_only_the_times_of_the_policy_are_the_loads() -> None:
    changed = {name for name in Weights.__struct_fields__ if getattr(quick(), name) != getattr(Weights(), name)}

    assert changed == {"return_age_s", "half_life_s"}
    assert quick().return_age_s * SPEED == Weights().return_age_s


def test_the_frontend_takes_its_weights_from_where_they_are_replaced() -> None:
    assert vars(places)["Weights"] is Weights
