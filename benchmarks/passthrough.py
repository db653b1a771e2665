"""The thinnest useful proxy: aiohttp in, aiohttp out. Run: `python -m benchmarks.passthrough URL`."""

from __future__ import annotations

import asyncio
import sys

import aiohttp
import uvloop
from aiohttp import web


async def application(url: str) -> web.Application:
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def forward(request: web.Request) -> web.StreamResponse:
        async with session.post(url, data=await request.read()) as upstream:
            response = web.StreamResponse(headers={"content-type": upstream.content_type})
            await response.prepare(request)
            async for chunk in upstream.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    app = web.Application()
    app.router.add_post("/v1/chat/completions", forward)
    return app


async def main(url: str) -> None:
    runner = web.AppRunner(await application(url), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
