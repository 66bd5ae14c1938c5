import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from graphs.process import ChatReady, HttpReady, PortReady, Started
from graphs.supervisor.probe import probe, until_ready
from tests.graphs.supervisor.harness import free_port

Answer = Callable[[web.Request], web.Response]


@asynccontextmanager
async def server(**answers: Answer) -> AsyncIterator[str]:
    """An HTTP server whose paths are `/health`, `/v1/models` and `/v1/chat/completions`."""
    paths = {"health": "/health", "models": "/v1/models", "chat": "/v1/chat/completions"}
    app = web.Application()
    for name, answer in answers.items():

        async def handle(request: web.Request, answer: Answer = answer) -> web.Response:
            await request.read()
            return answer(request)

        app.router.add_route("*", paths[name], handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


def ok(_: web.Request) -> web.Response:
    return web.json_response({})


def models(*names: str) -> Answer:
    return lambda _: web.json_response({"data": [{"id": name} for name in names]})


async def test_a_process_without_a_check_is_ready_at_once() -> None:
    assert await probe(Started()) is None


async def test_a_port_is_ready_when_it_accepts() -> None:
    port = free_port()
    assert "refuses connections" in str(await probe(PortReady("127.0.0.1", port)))
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", port):
        assert await probe(PortReady("127.0.0.1", port)) is None


async def test_a_url_is_ready_when_it_answers_200_and_else_says_what_it_answered() -> None:
    status = 503
    async with server(health=lambda _: web.Response(status=status, text="still\nloading")) as url:
        assert await probe(HttpReady(f"{url}/health")) == f"GET {url}/health answered 503 still loading"
        status = 200
        assert await probe(HttpReady(f"{url}/health")) is None


async def test_a_url_nobody_serves_says_so() -> None:
    url = f"http://127.0.0.1:{free_port()}/health"
    assert str(await probe(HttpReady(url))).startswith(f"GET {url} failed: ")


async def test_what_is_not_http_says_so() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail\r\n")
        await writer.drain()
        writer.close()

    port = free_port()
    async with await asyncio.start_server(greet, "127.0.0.1", port):
        url = f"http://127.0.0.1:{port}/"
        assert await probe(HttpReady(url)) is not None


async def test_a_chat_is_ready_when_the_model_is_listed_and_answers_one_token() -> None:
    asked: list[str] = []

    def chat(request: web.Request) -> web.Response:
        asked.append(request.content_type)
        return web.json_response({})

    async with server(models=models("other", "glm"), chat=chat) as url:
        assert await probe(ChatReady(url, "glm")) is None
    assert asked == ["application/json"]


async def test_a_chat_is_not_asked_before_its_model_is_listed() -> None:
    def chat(_: web.Request) -> web.Response:
        raise AssertionError("asked too early")

    async with server(models=models("other"), chat=chat) as url:
        assert await probe(ChatReady(url, "glm")) == f"{url}/v1/models does not list glm: other"


async def test_a_chat_that_fails_says_how() -> None:
    async with server(models=models("glm"), chat=lambda _: web.Response(status=500, text="no worker")) as url:
        assert await probe(ChatReady(url, "glm")) == f"POST {url}/v1/chat/completions answered 500 no worker"


async def test_a_list_of_models_that_is_none_says_so() -> None:
    async with server(models=lambda _: web.Response(text="<html>"), chat=ok) as url:
        assert str(await probe(ChatReady(url, "glm"))).startswith(f"GET {url}/v1/models failed: ")


async def test_asking_goes_on_until_the_answer_is_yes() -> None:
    statuses = iter([503, 404, 200])
    async with server(health=lambda _: web.Response(status=next(statuses))) as url:
        assert await until_ready(HttpReady(f"{url}/health"), 30) is None


async def test_asking_ends_at_the_limit_with_the_last_reason() -> None:
    async with server(health=lambda _: web.Response(status=503, text=json.dumps("loading"))) as url:
        assert await until_ready(HttpReady(f"{url}/health"), 0.2) == f'GET {url}/health answered 503 "loading"'


async def test_an_answer_that_never_comes_ends_at_the_limit() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        left.set()

    left = asyncio.Event()

    port = free_port()
    async with await asyncio.start_server(hang, "127.0.0.1", port):
        assert await until_ready(HttpReady(f"http://127.0.0.1:{port}/"), 0.1) == "it did not answer"
        await left.wait()
