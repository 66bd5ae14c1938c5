"""Which replica owns which GPUs."""

from collections.abc import Iterator, Sequence

from graphs.config import Config


def needed(config: Config, only: str | None = None) -> int:
    """GPUs of all replicas, or of one service's."""
    return sum(
        service.args.workers * service.args.resources.gpu
        for service in config.services
        if only in {None, service.service.name}
    )


def sum_shown(config: Config, only: str | None = None) -> str:
    """The sum in words: `Prefill 1 x 8 + Decode 4 x 4 = 24`."""
    parts = [
        f"{service.service.name} {service.args.workers} x {service.args.resources.gpu}"
        for service in config.services
        if service.args.resources.gpu and only in {None, service.service.name}
    ]
    return f"{' + '.join(parts)} = {needed(config, only)}"


def assign(counts: Sequence[int], available: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Give each replica in turn the next GPUs, so that one replica's GPUs are neighbours.

    Where the machine has too few, indices go on as if it had enough: a dry run shows what a larger machine would get,
    and preflight refuses the start.
    """
    missing = range(max(available, default=-1) + 1, max(available, default=-1) + 1 + sum(counts))
    gpus = iter((*available, *missing))
    for count in counts:
        yield tuple(next(gpus) for _ in range(count))
