import json, re, random, threading

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def even(n):
    return True if n == 0 else odd(n - 1)

def odd(n):
    return False if n == 0 else even(n - 1)

class Knoten:
    def __init__(self, wert):
        self.wert, self.links, self.rechts = wert, None, None

    def einfügen(self, wert):
        seite = 'links' if wert < self.wert else 'rechts'
        kind = getattr(self, seite)
        if kind is None:
            setattr(self, seite, Knoten(wert))
        else:
            kind.einfügen(wert)

def baum(zahl):
    rnd = random.Random(1)
    wurzel = Knoten(500)
    for _ in range(zahl):
        wurzel.einfügen(rnd.randrange(1000))
    return wurzel

def gen(n):
    for i in range(n):
        yield re.sub('a+', 'b', 'xaay' * i)

def worker():
    return [fib(8) for _ in range(3)], even(20)

def text():
    return sum(len(t) for t in gen(20)) + len(json.dumps({str(i): [i] * 3 for i in range(50)}, indent=1))

def main():
    threads = [threading.Thread(target=worker) for _ in range(2)]
    for t in threads: t.start()
    baum(60)
    worker()
    text()
    for t in threads: t.join()

if __name__ == '__main__':
    main()
