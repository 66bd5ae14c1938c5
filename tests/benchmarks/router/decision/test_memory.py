import mmap
import sys

from benchmarks.router.decision.memory import resident, weight


def test_each_object_weighs_once_and_code_nothing() -> None:
    text = "x" * 1000
    held = [text, text, {"key": text}, int, weight]

    parts = (held, text, held[2], "key")
    assert weight(held) == sum(map(sys.getsizeof, parts))


def test_what_is_written_is_resident() -> None:
    # Mapped anew: the allocator would give back what an earlier test has left.
    with mmap.mmap(-1, 30_000_000) as block:
        before = resident()
        block.write(b"\1" * len(block))

        assert resident() - before > 0.9 * len(block)
