import os
import threading
import time

from benchmarks.frontend.profile import thread_ticks


def spin(seconds: float) -> None:
    spent = time.thread_time()
    while time.thread_time() - spent < seconds:
        pass


def test_the_main_threads_time_is_a_part_of_the_processs() -> None:
    main_before, all_before = thread_ticks(os.getpid())
    other = threading.Thread(target=spin, args=(0.2,))
    other.start()
    other.join()
    main, all_ = thread_ticks(os.getpid())
    assert all_ - all_before >= 15
    assert main - main_before < 10
