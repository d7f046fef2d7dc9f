# SPDX-License-Identifier: Apache-2.0
"""A steady mixed load, and whether memory stays where it is."""

import http.client
import random
import threading
import time

from stage import NAME, Service, exchange, expect, folder, machine, percentile, post

# The memory that the last quarter may hold more than the second one: a tenth, and what allocators do.
SHARE, BYTES = 1.10, 20_000_000
PAGES = ["/", "/adoption", "/hosts", "/rotations", "/lists", "/audit", "/failures", "/failures?span=all", "/alarms", "/v1/status",
         "/metrics"]


class Load(threading.Thread):
    """Asks the same kind of thing again and again, with a pause; returns the times and the failures."""

    def __init__(self, service, name, ask, pause, ended):
        super().__init__(daemon=True)
        self.service, self.name, self.ask, self.pause, self.ended = service, name, ask, pause, ended
        self.seconds, self.count, self.wrong = [], 0, {}

    def run(self):
        connection = self.service.connection()
        while not self.ended.wait(random.uniform(0, 2 * self.pause)):
            began = time.monotonic()
            try:
                status = self.ask(connection, self.count)
            except (OSError, http.client.HTTPException) as error:
                status = type(error).__name__
                connection.close()
                connection = self.service.connection()
            self.count += 1
            # A sample of fixed size: the load generator must not be what grows.
            if len(self.seconds) < 20_000:
                self.seconds.append(time.monotonic() - began)
            else:
                self.seconds[random.randrange(20_000)] = time.monotonic() - began
            if status not in (200, 202, 304):
                self.wrong[status] = self.wrong.get(status, 0) + 1
        connection.close()


def loads(service, ended, etag):
    lists = f"/v1/lists/{NAME}/pins.json"

    reader = service.reader()

    def reported(connection, count):
        # 300 hosts, 20 versions, sources from everywhere: groups are made, and then there are no more new ones.
        number = random.getrandbits(24)
        return post(connection, number, f"h{number % 300}.example.com", noted=f"api{number % 3}.example.com",
                    version=f"{number % 20}.0")

    def conditional(connection, count):
        tag = etag if random.random() < 0.9 else f'"{random.getrandbits(256):064x}"'
        return exchange(connection, "GET", lists, headers={"If-None-Match": tag}).status

    def fresh(connection, count):
        connection.close()
        return exchange(connection, "GET", lists).status

    def missing(connection, count):
        return 200 if exchange(connection, "GET", f"/v1/lists/{NAME}/root/2.json").status == 404 else "not 404"

    def page(connection, count):
        return exchange(connection, "GET", PAGES[count % len(PAGES)], headers=reader).status

    kinds = [("reports", reported, 0.02)] * 4 + [("304", conditional, 0.005)] * 2 + [
        ("lists on new connections", fresh, 0.02), ("missing roots", missing, 0.02), ("pages", page, 0.5)]
    return [Load(service, name, ask, pause, ended) for name, ask, pause in kinds]


def prove(seconds):
    with folder() as path:
        loaded = machine()
        service = Service(path)
        service.start()
        service.publish()
        etag = service.ask("GET", f"/v1/lists/{NAME}/pins.json").headers["ETag"]
        ended = threading.Event()
        workers = loads(service, ended, etag)
        for worker in workers:
            worker.start()
        samples, cpu = [], service.cpu()
        step = max(0.1, seconds / 400)
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            time.sleep(step)
            samples.append(service.memory())
        used = (service.cpu() - cpu) / (time.monotonic() - began)
        ended.set()
        for worker in workers:
            worker.join()
        size = (service.data / "tumbler.sqlite").stat().st_size
        status = service.stop()
        expect(status == 0, f"the service ended with {status}")
    quarters = [samples[len(samples) * number // 4:len(samples) * (number + 1) // 4] for number in range(4)]
    means = [sum(quarter) / len(quarter) for quarter in quarters]
    lines = [f"{seconds} s of a steady mixed load; {loaded}.", "",
             "| what | requests | median (ms) | p99 (ms) | failed |", "|---|---:|---:|---:|---:|"]
    wrong = {}
    for name in dict.fromkeys(worker.name for worker in workers):
        same = [worker for worker in workers if worker.name == name]
        took = [value for worker in same for value in worker.seconds]
        failed = sum(sum(worker.wrong.values()) for worker in same)
        wrong.update({key: name for worker in same for key in worker.wrong})
        lines.append(f"| {name} | {sum(worker.count for worker in same):,} | {percentile(took, 0.5) * 1e3:.1f} | "
                     f"{percentile(took, 0.99) * 1e3:.1f} | {failed} |")
    lines += ["", "Resident memory by quarters, mean (MB): " + ", ".join(f"{mean / 1e6:.1f}" for mean in means)
              + f"; highest {max(samples) / 1e6:.1f}. {used * 100:.0f} % of a core; the database has "
              f"{size / 1e6:.1f} MB."]
    expect(not wrong, "\n".join(lines) + f"\nanswered otherwise: {wrong}")
    expect(means[3] <= means[1] * SHARE + BYTES,
           "\n".join(lines) + "\nmemory grows: the last quarter is over the second by more than a tenth and 20 MB")
    return lines
