from router.book import DecodeBook, RankBook


def test_work_in_hand_is_gone_once_it_is_computed() -> None:
    book = RankBook(1000, 1e6)
    book.place("a", 100, 10.0)
    book.place("b", 50, 5.0)
    assert (book.waiting_tokens, book.waiting_ms) == (150, 15.0)

    book.computed("a")
    book.computed("a")

    assert (book.waiting_tokens, book.waiting_ms) == (50, 5.0)


def test_a_decode_engine_counts_what_runs_on_it() -> None:
    book = DecodeBook(1000)
    book.place("a", 100)
    book.place("b", 200)
    book.finish("a")
    book.finish("a")

    assert (book.requests, book.tokens) == (1, 200)
