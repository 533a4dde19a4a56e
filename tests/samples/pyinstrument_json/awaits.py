# one coroutine is profiled: what it awaits is told, what others do is out of context
import asyncio, sys, time
from pyinstrument import Profiler
from pyinstrument.renderers import ConsoleRenderer, JSONRenderer
def busy(s):
    end = time.perf_counter() + s
    while time.perf_counter() < end: pass
async def leaf(): busy(0.01); await asyncio.sleep(0.02)
async def branch(): await leaf(); await asyncio.sleep(0.01); busy(0.005)
async def other(): busy(0.015)
async def main():
    profiler = Profiler(interval=0.001, async_mode=sys.argv[2])
    profiler.start(); t = asyncio.ensure_future(other()); await branch(); await t; profiler.stop()
    s = profiler.last_session
    open(sys.argv[1] + '.json', 'w').write(JSONRenderer(show_all=True).render(s))
    open(sys.argv[1] + '.txt', 'w').write(ConsoleRenderer(show_all=True, unicode=False, color=False, **({'time': 'seconds'} if sys.argv[3:] else {})).render(s))
asyncio.new_event_loop().run_until_complete(main())
