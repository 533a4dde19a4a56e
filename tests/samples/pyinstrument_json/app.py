import asyncio, time
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
class Größe:
    @classmethod
    def alle(cls): return [cls().füllen() for _ in range(4)]
    def füllen(self): return fib(16)
def rec(n):
    if n: return rec(n - 1)
    time.sleep(0.02)
def quoted(): exec("fib(17)")
async def wait(n):
    await asyncio.sleep(n); fib(15)
async def both(): await asyncio.gather(wait(0.02), wait(0.05))
def main():
    Größe.alle(); quoted(); rec(12); list(map(lambda x: fib(11), range(30)))
    loop = asyncio.new_event_loop(); loop.run_until_complete(both()); loop.close()
main()
