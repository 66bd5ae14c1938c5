"""Where the time of one request went: in the frontend, on prefill's engine and on decode's.

The engines' part comes with the last output, where they run `components.engine.scheduler`; of others, Dynamo's mocker
among them, only the frontend's part is known.
"""

import logging
import time

import msgspec

from components.engine.moments import TIMELINE
from components.frontend.request import Json

log = logging.getLogger(__name__)

PHASES = {
    "frontend": ("prepare", "placement", "elsewhere"),
    "prefill": ("fetch", "admission", "compute"),
    "decode": ("fetch", "admission", "compute"),
}
"""Phases of each stage; the engines' as `components.engine.moments.Moments` has them.

``prepare`` renders, tokenizes and builds the tag, ``placement`` chooses the workers, and ``elsewhere`` is what nobody
else accounts for: Dynamo's planes, the engines' own front ends, and the clock between their processes.
"""


class Timeline:
    """The phases of one request until its first token. Make it when the request arrives."""

    def __init__(self) -> None:
        self._received_at = time.time()
        self._received = time.monotonic()
        self._first_token_ms: float | None = None
        self._stages: dict[str, dict[str, float]] = {"frontend": {}}

    def prepared(self) -> None:
        """Note that the request is ready for placement."""
        self._stages["frontend"]["prepare_ms"] = self._since_ms()

    def placed(self, took_ms: float) -> None:
        """Note how long placing it took."""
        self._stages["frontend"]["placement_ms"] = took_ms

    def first_token(self) -> None:
        """Note that the first output is there; later ones change nothing."""
        if self._first_token_ms is None:
            self._first_token_ms = self._since_ms()

    def read(self, output: Json) -> None:
        """Take in what the engines say in the last output, an ``LLMEngineOutput`` in Dynamo's form."""
        said = ((output.get("engine_data") or {}).get("kv_transfer_params") or {}).get(TIMELINE)
        if said is None:
            return
        try:
            self._stages |= msgspec.convert(said, dict[str, dict[str, float]])
        except msgspec.ValidationError as error:
            log.warning("an engine's timeline is left out: %s", error)
            return
        if self._first_token_ms is not None:
            known = sum(sum(phases.values()) for phases in self._stages.values())
            self._stages["frontend"]["elsewhere_ms"] = max(0.0, self._first_token_ms - known)

    def _since_ms(self) -> float:
        return (time.monotonic() - self._received) * 1e3

    def phases(self) -> list[tuple[str, str, float]]:
        """Return stage, phase and duration in ms of every phase that is known."""
        return [
            (stage, phase, took)
            for stage, names in PHASES.items()
            for phase in names
            if (took := self._stages.get(stage, {}).get(f"{phase}_ms")) is not None
        ]

    def timing(self) -> Json:
        """Return ``nvext.timing``: Dynamo's names where it has one, and each stage's phases; all in ms."""
        found: Json = {
            "request_received_ms": round(self._received_at * 1e3),
            "ttft_ms": self._first_token_ms and round(self._first_token_ms, 3),
            "total_time_ms": round(self._since_ms(), 3),
        }
        for stage, phase, took in self.phases():
            found.setdefault(stage, {})[f"{phase}_ms"] = round(took, 3)
        return found
