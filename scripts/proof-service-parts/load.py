# SPDX-License-Identifier: Apache-2.0
"""List requests beside SwiftNIO alone and nginx on the same core, and what idle connections cost."""

import asyncio
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time

from stage import NAME, ROOT, Failure, Limits, Service, binary, cpu, expect, folder, machine, median

sys.path.insert(0, str(ROOT / "Tests" / "Packaging"))

from service import free_port  # noqa: E402

# The share of a raw SwiftNIO server's requests a second that is required: one prepared answer, no framework.
LEAST_RATIO = 0.95
# The most resident memory that an idle connection may take, in bytes.
MOST_IDLE_BYTES = 32_768
SERVER_CORE, CLIENT_CORE = "0", "1"
LIST = f"/v1/lists/{NAME}/pins.json"
# Printed beside the figures, and no limit: a slow machine answers fewer.
INSTALLATIONS, HOURS = 100_000_000, 12


def certificate(path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", str(path / "tls.key"), "-out", str(path / "tls.pem"), "-days", "30",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                   check=True, capture_output=True)
    return path / "tls.pem", path / "tls.key"


class Nginx:
    """The same file with the same fields, over plain HTTP and TLS 1.3, from one worker on the server's core."""

    def __init__(self, path, content, etag, tls):
        self.plain, self.secure = free_port(), free_port()
        file = path / "www" / LIST[1:]
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
        for name in ("body", "proxy", "fastcgi", "uwsgi", "scgi"):
            (path / "nginx" / name).mkdir(parents=True)
        configuration = path / "nginx.conf"
        configuration.write_text(f"""
            worker_processes 1; daemon off; pid {path}/nginx/pid; error_log {path}/nginx/error.log;
            events {{ worker_connections 20000; }}
            http {{
                access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; keepalive_timeout 3600;
                open_file_cache max=16 inactive=1h; default_type application/json; server_tokens off;
                client_body_temp_path {path}/nginx/body; proxy_temp_path {path}/nginx/proxy;
                fastcgi_temp_path {path}/nginx/fastcgi; uwsgi_temp_path {path}/nginx/uwsgi;
                scgi_temp_path {path}/nginx/scgi;
                add_header Cache-Control "public, max-age=300"; add_header X-Content-Type-Options nosniff;
                server {{
                    listen 127.0.0.1:{self.plain} backlog=1024; listen 127.0.0.1:{self.secure} ssl backlog=1024;
                    ssl_certificate {tls[0]}; ssl_certificate_key {tls[1]}; ssl_protocols TLSv1.3;
                    root {path}/www;
                }}
            }}""")
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen(["taskset", "-c", SERVER_CORE, nginx, "-c", str(configuration)],
                                        stderr=subprocess.DEVNULL)
        wait_for(self.plain)
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        self.worker = int(children.stdout.split()[0])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class RawServer:
    """The same file with the same fields from SwiftNIO alone, on one event loop on the server's core."""

    def __init__(self, path, content, etag, tls=()):
        program = binary().parent / "raw-list-server"
        expect(program.exists(), f"{program} is not built: scripts/build release tumbler tumbler-service raw-list-server")
        file = path / "raw.json"
        file.write_bytes(content)
        self.process = subprocess.Popen(["taskset", "-c", SERVER_CORE, program, file, etag, *map(str, tls)],
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def stop(self):
        self.process.kill()
        self.process.wait()


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise Failure(f"no server listens on {port}")


def wrk(url, seconds, fields=(), connections=32):
    """What wrk saw: requests a second, p99 in ms, requests, answers other than 2xx and 3xx."""
    command = ["taskset", "-c", CLIENT_CORE, "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency"]
    for field in fields:
        command += ["-H", field]
    done = subprocess.run([*command, url], capture_output=True, text=True)
    expect(done.returncode == 0, f"wrk ended with {done.returncode}: {done.stderr}{done.stdout}")
    return read_wrk(done.stdout)


def read_wrk(text):
    units = {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s|m)\b", text).groups()
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
    count = int(re.search(r"(\d+) requests in", text)[1])
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    # nginx and the service may end connections at the end of a run: reads that fail then are none of requests.
    expect(not errors or not any(int(errors[i]) for i in (1, 3, 4)), text)
    return rate, float(number) * units[unit], count, int(bad[1]) if bad else 0


def prove(seconds, rounds):
    with folder() as path:
        path.chmod(0o755)
        loaded = machine()
        tls = certificate(path)
        pinned = ["taskset", "-c", SERVER_CORE]
        plain = Service(path, prefix=pinned)
        plain.start()
        plain.publish()
        second = path / "second"
        second.mkdir()
        secure = Service(second, prefix=pinned, tls=tls)
        secure.start()
        publish_secure(secure, path)
        answer = plain.ask("GET", LIST)
        nginx = Nginx(path, answer.body, answer.headers["ETag"], tls)
        raw = []
        try:
            raw.append(RawServer(path, answer.body, etag(plain.address.geturl() + LIST, tls[0])))
            raw.append(RawServer(path, answer.body, etag(secure.address.geturl() + LIST, tls[0]), tls))
            lines = measure(plain, secure, raw, nginx, answer, seconds, rounds, loaded)
        finally:
            for server in raw:
                server.stop()
            nginx.stop()
            plain.kill()
            secure.kill()
    return lines


def publish_secure(service, path):
    """Over TLS the command line would not trust our certificate: curl is told to."""
    secret = service.local("token", "create", "--scope", "publish", "--name", NAME).strip()
    app = service.path / "app"
    body = path / "publication.json"
    body.write_bytes(b"[" + (app / "root/1.json").read_bytes() + b"," + (app / "pins.json").read_bytes() + b"]")
    done = subprocess.run(["curl", "-sS", "-f", "--cacert", str(path / "tls.pem"), "-X", "PUT", "-H",
                           "Authorization: Bearer " + secret, "--data-binary", f"@{body}",
                           f"{service.address.geturl()}/v1/lists/{NAME}"], capture_output=True, text=True)
    expect(done.returncode == 0, f"publishing over TLS failed: {done.stderr}")


def etag(url, certificate):
    done = subprocess.run(["curl", "-sS", "-f", "--cacert", str(certificate), "-o", "/dev/null", "-D", "-", url],
                          capture_output=True, text=True)
    return re.search(r"(?i)^etag: *(.*?)\r?$", done.stdout, re.MULTILINE)[1]


def measure(plain, secure, raw, nginx, answer, seconds, rounds, loaded):
    certificate_file = plain.path / "tls.pem"
    targets = {}
    for kind, service, server, theirs in (
            ("plain", plain, raw[0], f"http://127.0.0.1:{nginx.plain}{LIST}"),
            ("TLS 1.3", secure, raw[1], f"https://127.0.0.1:{nginx.secure}{LIST}")):
        ours = service.address.geturl() + LIST
        bare = f"{service.address.scheme}://127.0.0.1:{server.port}{LIST}"
        for status in (200, 304):
            targets[f"{status}, {kind}"] = [
                (url, [f"If-None-Match: {etag(url, certificate_file)}"] if status == 304 else [], process)
                for url, process in (
                    (ours, service.process.pid), (bare, server.process.pid), (theirs, nginx.worker))]
    lines = [f"The service, SwiftNIO alone with one prepared answer and nginx (one worker each) share core {SERVER_CORE}, "
             f"`wrk -t1 -c32` has core {CLIENT_CORE}; keep-alive; {rounds} rounds of {seconds} s each, in turns, medians; "
             f"a list of {len(answer.body):,} bytes; {loaded}. Other work on the machine takes from all, and where wrk is "
             "what is too slow nginx is spared: the time of the core that a request takes depends on neither.", "",
             "| request | tumbler /s | SwiftNIO /s | nginx /s | of SwiftNIO | of nginx | p99 (ms) | nginx's "
             "| core µs a request | SwiftNIO's | nginx's |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    limits = Limits("The service, list requests")
    for name, servers in targets.items():
        seen = [[] for _ in servers]
        for _ in range(rounds):
            for index, (url, fields, process) in enumerate(servers):
                before = cpu(process)
                rate, p99, count, bad = wrk(url, seconds, fields)
                expect(bad == 0, f"{name}: {bad} of {count} requests of {url} were answered otherwise")
                seen[index].append((rate, p99, (cpu(process) - before) / count * 1e6))
        ratio, of_nginx = (
            median([ours[0] / theirs[0] for ours, theirs in zip(seen[0], other)]) for other in seen[1:])
        rows = [[median([row[column] for row in side]) for column in range(3)] for side in seen]
        (rate, p99, core), (bare_rate, _, bare_core), (their_rate, their_p99, their_core) = rows
        lines.append(f"| {name} | {rate:,.0f} | {bare_rate:,.0f} | {their_rate:,.0f} | {ratio:.2f} | {of_nginx:.2f} | "
                     f"{p99:.1f} | {their_p99:.1f} | {core:.1f} | {bare_core:.1f} | {their_core:.1f} |")
        limits.limit(f"{name}, SwiftNIO alone : tumbler", 1 / ratio, 1 / LEAST_RATIO)
    lines += ["", f"Required is at least {LEAST_RATIO} of SwiftNIO alone. For comparison: {INSTALLATIONS:,} installations that "
              f"ask every {HOURS} hours are {INSTALLATIONS / HOURS / 3600:,.0f} requests a second."]
    return limits.page(lines)


# MARK: Idle connections


async def open_connections(address, count):
    """Connections that have had one answer each, and are kept open."""
    request = f"GET {LIST} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    room = asyncio.Semaphore(200)

    async def one():
        async with room:
            reader, writer = await asyncio.open_connection(address.hostname, address.port)
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(re.search(rb"(?i)content-length: *(\d+)", head)[1]))
            return reader, writer

    return await asyncio.gather(*(one() for _ in range(count)))


async def hold(service, count):
    before = service.memory()
    began = time.monotonic()
    connections = await open_connections(service.address, count)
    opened = time.monotonic() - began
    held = service.memory()
    is_open = sum(not reader.at_eof() for reader, _ in connections)
    served = await asyncio.to_thread(service.lists_are_served)
    # A client that says nothing is let go: the service holds no connection for ever.
    await asyncio.wait_for(asyncio.gather(*(reader.read(1) for reader, _ in connections)), timeout=60)
    ended = time.monotonic() - began - opened
    for _, writer in connections:
        writer.close()
    return before, held, is_open, served, opened, ended


def idle(count):
    need = count + 1_000
    resource.setrlimit(resource.RLIMIT_NOFILE, (need, max(need, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    with folder() as path:
        service = Service(path)
        service.start()
        service.publish()
        before, held, is_open, served, opened, ended = asyncio.run(hold(service, count))
        after = service.memory()
        again = asyncio.run(hold(service, count))[1]
        service.kill()
    each = (held - before) / count
    expect(is_open == count, f"{count - is_open} of {count} connections were closed while others were opened")
    expect(served, "with that many connections a list is not served")
    limits = Limits("The service, idle connections")
    limits.limit("memory of one", each, MOST_IDLE_BYTES, " bytes")
    expect(again <= held * 1.25 + 20_000_000, f"the second time they take {again / 1e6:.0f} MB, the first {held / 1e6:.0f}")
    return limits.page([
        f"{count:,} idle connections, each after one request, opened in {opened:.1f} s: resident memory {before / 1e6:.1f} → "
        f"{held / 1e6:.1f} MB, {each / 1e3:.1f} kB a connection; a list was served meanwhile. The service ended all of them "
        f"{ended:.0f} s later, for want of a request, and held {after / 1e6:.1f} MB; with {count:,} more, {again / 1e6:.1f} MB."])
