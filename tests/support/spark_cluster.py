"""Starts a cluster of Apache Spark on this machine, a master and two workers, and has dataset_engines.py ask it. While the first view is
read, one worker is killed after its first finished task: the answer is that of SQLite all the same.

usage: spark_cluster.py PROFDB DATABASE DATASET

Prints what dataset_engines.py prints, and what became of the workers. What is waited for is looked for again and again."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

profdb, database, dataset = sys.argv[1:]
scratch = pathlib.Path(tempfile.mkdtemp())
import pyspark

home = pyspark.__path__[0]
os.environ.update(SPARK_HOME=home, SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
# Questions over small files are asked once each: what the second compiler of Java would take to make them fast is most of the time.
os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
started = []
# Who ends this program ends the cluster.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def start(name, *arguments):
    log = open(scratch / f"{name}.log", "wb")
    # A group of its own, so that a worker can be killed with its executor.
    process = subprocess.Popen(
        [f"{home}/bin/spark-class", *arguments], stdout=log, stderr=subprocess.STDOUT, start_new_session=True
    )
    started.append(process)
    return process


def wait_for(name, pattern, process):
    while True:
        text = (scratch / f"{name}.log").read_text(errors="replace")
        found = re.search(pattern, text)
        if found:
            return found
        if process.poll() is not None:
            sys.exit(f"{name} has ended: {text[-3000:]}")
        time.sleep(0.1)


def end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


try:
    master = start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    address = wait_for("master", r"Starting Spark master at (spark://127\.0\.0\.1:\d+)", master).group(1)
    workers = []
    for number in (1, 2):
        worker = start(
            f"worker{number}", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0",
            "--cores", "1", "--memory", "1g", "--work-dir", str(scratch / f"work{number}"), address,
        )
        workers.append(worker)
    for number, worker in zip((1, 2), workers):
        wait_for(f"worker{number}", "Successfully registered with master", worker)
    os.environ["PROFDB_KILL"] = json.dumps([worker.pid for worker in workers])
    os.environ["PROFDB_WORK"] = json.dumps([str(scratch / f"work{number}") for number in (1, 2)])
    asked = subprocess.run(
        [sys.executable, os.path.join(os.path.dirname(__file__), "dataset_engines.py"), "spark", profdb, database, dataset, address]
    )
    sys.exit(asked.returncode)
finally:
    for process in started:
        end(process)
