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
    book.finish("a", 0.0)
    book.finish("a", 0.0)

    assert (book.requests, book.tokens) == (1, 200)


def test_a_decode_engine_knows_how_many_answers_were_under_way() -> None:
    book = DecodeBook(1000)
    book.place("waits for its prompt", 100)
    begun = book.begin("a", 100.0)
    book.begin("b", 150.0)
    book.finish("b", 175.0)
    book.finish("b", 175.0)

    assert (book.run_ms(200.0) - begun) / 100.0 == 1.25
