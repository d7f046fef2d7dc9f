# SPDX-License-Identifier: Apache-2.0
"""Many who send the body of a report a byte a second, and whether others are served meanwhile."""

import http.client
import resource
import socket
import time

from stage import Service, address, expect, folder, machine, percentile, post

# What each of them has sent before it becomes slow, of a report that is a little larger.
SENT, LENGTH = 50_000, 60_000
# The share of other people's reports that has to be taken at once: the others are told to come again.
TAKEN = 0.95
# The most resident memory that one of them may take, in bytes: the body, as it was read and as it is kept, and a connection.
MOST_BYTES = 160_000


def attack(service, count):
    """Connections from as many sources, each with most of its body sent."""
    connections = []
    for number in range(count):
        connection = socket.create_connection((service.address.hostname, service.address.port))
        connection.sendall((
            "POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"X-Forwarded-For: {address(number)}\r\nContent-Length: {LENGTH}\r\n\r\n[").encode() + b" " * SENT)
        connections.append(connection)
    return connections


def is_ended(connection):
    connection.settimeout(0.05)
    try:
        while connection.recv(4_096):
            pass
        return True
    except TimeoutError:
        return False
    except OSError:
        return True


def prove(is_short):
    count, seconds = (300, 4) if is_short else (2_000, 75)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count + 1_000, hard), hard))
    with folder() as path:
        loaded = machine()
        service = Service(path)
        service.start()
        service.publish()
        before = service.memory()
        connections = attack(service, count)
        statuses, lists, times, most = {}, 0, [], 0
        other = service.connection()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            second = len(times) % 20
            for connection in connections[second::20]:
                try:
                    connection.sendall(b" ")
                except OSError:
                    pass
            began = time.monotonic()
            try:
                status = post(other, 1_000_000 + len(times), "api0.example.com")
            except (OSError, http.client.HTTPException):
                other = service.connection()
                status = 0
            times.append(time.monotonic() - began)
            statuses[status] = statuses.get(status, 0) + 1
            lists += service.lists_are_served()
            most = max(most, service.memory())
            time.sleep(0.05)
        ended = sum(is_ended(connection) for connection in connections)
        service.kill()
    asked = len(times)
    expect(lists == asked, f"of {asked} lists {lists} were served")
    expect(set(statuses) <= {202, 503}, f"reports were answered {statuses}")
    expect(statuses.get(202, 0) >= TAKEN * asked, f"of {asked} reports {statuses} were taken: less than {TAKEN:.0%}")
    each = (most - before) / count
    expect(each <= MOST_BYTES, f"each of them took {each:,.0f} bytes: more than {MOST_BYTES:,}")
    expect(is_short or ended == count, f"after {seconds} s {count - ended} of {count} are still there")
    return [f"{count:,} connections from as many sources send {SENT:,} of {LENGTH:,} bytes of a report, and then a byte a "
            f"second, for {seconds} s; {loaded}. Meanwhile of {asked:,} reports of others {statuses.get(202, 0):,} were "
            f"taken at once (p99 {percentile(times, 0.99) * 1e3:.1f} ms), {statuses.get(503, 0):,} told to come again; "
            f"{lists:,} of {asked:,} lists were served. Resident memory {before / 1e6:.0f} → {most / 1e6:.0f} MB. At the "
            f"end {ended:,} of the slow ones had been closed."]
