#!/usr/bin/env python3
"""What `profdb serve` takes to begin, and for the questions of a page that is opened: processor time and memory.

usage: benches/serve.py PROFDB DATABASE

Prints for each step the processor time so far in ms, user and system, and the peak of the memory in MiB, beside the processor
time of `profdb runs` on the same database. Times depend on the machine: the ratio says more. Needs Linux.
Exit codes: 0 done, 1 over a budget (50 ms to begin; 64 MiB besides the columns of the tree), 2 usage.
"""

import json
import os
import resource
import subprocess
import sys
import urllib.request

# Processor time until the address is printed, and memory without the columns of the tree.
MOST_BEGIN_MS = 50
MOST_MIB = 64


def used(pid):
    with open(f"/proc/{pid}/schedstat") as file:
        of_first = int(file.read().split()[0])
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
            total += int(file.read().split()[0])
    with open(f"/proc/{pid}/status") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    return max(of_first, total) / 1e6, peak / 1024


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    profdb, database = sys.argv[1:]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([profdb, "runs", "--db", database], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    runs = 1e3 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    print(f"{'profdb runs':40} {runs:8.1f} ms")
    server = subprocess.Popen([profdb, "serve", database, "--no-open"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    is_over = False
    try:
        url = server.stdout.readline().strip()
        time, peak = used(server.pid)
        print(f"{'begin':40} {time:8.1f} ms {peak:8.1f} MiB")
        is_over |= time > MOST_BEGIN_MS or peak > MOST_MIB

        def ask(path):
            size = len(urllib.request.urlopen(url + path).read())
            time, peak = used(server.pid)
            print(f"{path.split('run=')[0]:40} {time:8.1f} ms {peak:8.1f} MiB {size:12} bytes")
            return peak

        ask("")
        ask("page.js")
        run = json.load(urllib.request.urlopen(url + "api/about"))["runs"][0]["uid"]
        ask("api/about")
        ask(f"api/about?run={run}")
        ask(f"api/report/summary?run={run}")
        peak = ask(f"api/report/lines?run={run}")
        is_over |= peak > MOST_MIB
        for block in ["names", "lines", "steps", "places", "calls", "own-0", "all-0"]:
            ask(f"api/tree?block={block}&run={run}")
        ask(f"api/report/tree?format=csv&run={run}")
    finally:
        server.kill()
        server.wait()
    sys.exit(1 if is_over else 0)


main()
