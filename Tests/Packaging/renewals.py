# SPDX-License-Identifier: Apache-2.0
"""The stage of automatic-certificates, beside this file: pebble, a project whose list is served, nginx and Caddy in
front of what was deployed, and installations of the app."""

import base64
import contextlib
import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

from service import ROOT, TUMBLER, Failure, free_port

CLIENTS = Path(os.environ.get("DEMO_CLIENTS", ROOT / ".build" / "debug" / "demo-clients"))
SCRIPTS = ROOT / "Examples" / "acme"
HOST, NAME = "api.example.com", "com.example.app"
COUNT = 200
# The longest wait for a process that was started, in quarters of a second: met by one that hangs.
PATIENCE = 2_400


def program(name):
    """Where a program is; Debian has some where only root looks."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


def pin(file, kind="x509"):
    """The pin of a certificate (its first one), a request or a private key, as openssl says it."""
    key = {"x509": ["-noout", "-pubkey"], "req": ["-noout", "-pubkey"], "pkey": ["-pubout"]}[kind]
    public = subprocess.run(["openssl", kind, "-in", str(file), *key], check=True, capture_output=True).stdout
    to_der = ["openssl", "pkey", "-pubin", "-outform", "DER"]
    der = subprocess.run(to_der, input=public, check=True, capture_output=True)
    text = base64.b64encode(hashlib.sha256(der.stdout).digest()).decode()
    return f"sha256/{text}"


def fingerprint(text):
    """The SHA-256 of the first certificate of a PEM."""
    done = subprocess.run(
        ["openssl", "x509", "-noout", "-fingerprint", "-sha256"], input=text, capture_output=True, text=True
    )
    return done.stdout.strip() or None


def serves(port):
    """The certificate that a port presents now; None where nothing listens."""
    try:
        done = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", HOST],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    return fingerprint(done.stdout)


def until(holds, what, process=None):
    for _ in range(PATIENCE):
        if holds():
            return
        if process and process.poll() is not None:
            break
        time.sleep(0.25)
    raise Failure(f"{what} did not come")


@contextlib.contextmanager
def running(command, log, **options):
    """A process that ends with the block. Its output goes to a file."""
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, stdin=subprocess.DEVNULL, **options)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


class Lists:
    """The host of the lists: the files of a folder, which may not be there."""

    def __init__(self, folder):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                file = folder / self.path.lstrip("/")
                body = file.read_bytes() if file.is_file() and ".." not in self.path else None
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 2 * COUNT
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1/lists/{NAME}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Crowd:
    """Installations of the app: demo-clients, a command a line, an answer a line."""

    def __init__(self, scene, count=COUNT):
        self.process = subprocess.Popen(
            [str(CLIENTS), "--count", str(count), "--root", "app/tumbler-root.json", "--list", "app/tumbler-pins.json",
             "--list-url", scene.lists, "--cacert", str(scene.anchors), "--host", HOST],
            cwd=scene.project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.count = count

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, command):
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"the clients ended at `{command}`")
        return json.loads(line)

    def expect_all_in(self, port, when):
        """Every client makes a request, and every one gets its page because a pin matches."""
        said = self.ask(f"fetch {port}")
        if said.get("allowed") != {"pin-match": self.count} or said.get("refused") or said.get("failed"):
            raise Failure(f"{when}: {said}")

    def refresh(self, version, first=COUNT):
        """The first clients ask for a newer list, and have this version then."""
        said = self.ask(f"refresh {first}")
        if said.get("versions") != {str(version): first}:
            raise Failure(f"not all have version {version}: {said}")


class Scene:
    """pebble, a project that pins the key in use and a backup key, and the folder that a server reads."""

    def __init__(self, stack, place):
        self.folder = Path(place)
        self.stack = stack
        self.project, self.live = self.folder / "project", self.folder / "tls"
        self.anchors = self.folder / "roots.pem"
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "tumbler").symlink_to(TUMBLER)
        (self.folder / "home").mkdir()
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("TUMBLER")},
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.folder / "home"), "XDG_DATA_HOME": str(self.folder / "home"),
            # What certbot and lego trust the ACME server by.
            "REQUESTS_CA_BUNDLE": str(self.folder / "acme.pem"), "LEGO_CA_CERTIFICATES": str(self.folder / "acme.pem"),
        }  # fmt: skip
        self.start_authority()
        # The backup key: made beside the server, and its request with it.
        self.run("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out backup.key")
        self.run(f"openssl req -new -key backup.key -subj /CN={HOST} -addext subjectAltName=DNS:{HOST} -out backup.csr")

    def run(self, command, expected=0, **environment):
        """Runs a line of shell in the scene's folder; what it said."""
        done = subprocess.run(
            ["sh", "-eu", "-c", command], cwd=self.folder, env={**self.environment, **environment}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=1_800,
        )  # fmt: skip
        if done.returncode != expected:
            said = done.stdout[-800:].strip().replace("\n", " | ")
            raise Failure(f"{said} | ended with {done.returncode} and not with {expected}: `{command}`")
        return done.stdout

    def start_authority(self):
        self.run(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=localhost "
            "-addext subjectAltName=DNS:localhost -out acme.pem -keyout acme.key"
        )
        acme, management = free_port(), free_port()
        self.directory = f"https://localhost:{acme}/dir"
        self.challenge_port = free_port()
        settings = {
            "listenAddress": f"127.0.0.1:{acme}", "managementListenAddress": f"127.0.0.1:{management}",
            "certificate": "acme.pem", "privateKey": "acme.key",
            "httpPort": self.challenge_port, "tlsPort": free_port(),
            "ocspResponderURL": "", "externalAccountBindingRequired": False, "certificateValidityPeriod": 90 * 86_400,
        }  # fmt: skip
        (self.folder / "pebble.json").write_text(json.dumps({"pebble": settings}))
        # pebble refuses one nonce in twenty unless it is told not to, and certbot repeats a request only once.
        pebble = self.stack.enter_context(
            running(
                [program("pebble"), "-config", "pebble.json", "-strict"], self.folder / "pebble.log", cwd=self.folder,
                env={**os.environ, "PEBBLE_VA_ALWAYS_VALID": "1", "PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"},
            )
        )  # fmt: skip
        root = f"https://localhost:{management}/roots/0"
        fetch = ["curl", "--silent", "--fail", "--cacert", "acme.pem", "--output", str(self.anchors), root]
        until(lambda: subprocess.run(fetch, cwd=self.folder).returncode == 0, "pebble", pebble)

    def start_project(self, current, serve):
        """A list with the pin of the key in use and that of the backup key, served, and embedded in the app."""
        backup = pin(self.folder / "backup.csr", "req")
        self.run(f"tumbler init project --name {NAME} --domain {HOST}={current},{backup} --insecure-plaintext")
        self.run("cd project && tumbler export www && mkdir app && cp root/1.json app/tumbler-root.json")
        self.run("cp project/pins.json project/app/tumbler-pins.json")
        serve()

    def serve_from_files(self):
        host = Lists(self.project / "www")
        self.stack.callback(host.close)
        self.lists, self.counted = host.address, ""

    def serve_by_service(self):
        """The service. What comes over loopback and names no proxy counts for adoption, all of it."""
        (self.folder / "service.yaml").write_text(
            f"listen: 127.0.0.1:0\ndataDir: {self.folder}/data\nnames: {{{NAME}: {{root: project/root/1.json}}}}\n"
        )
        log = self.folder / "service.log"
        service = self.stack.enter_context(
            running([TUMBLER, "serve", "--config", "service.yaml"], log, cwd=self.folder, env=self.environment)
        )
        until(lambda: re.search("^operator ", log.read_text(), re.MULTILINE), "the service", service)
        address = re.search("^operator (.*)$", log.read_text(), re.MULTILINE)[1].rstrip("/")
        self.run(
            f"umask 077; tumbler token create --scope publish --name {NAME} --config service.yaml > token"
        )
        self.lists, self.counted = f"{address}/v1/lists/{NAME}", f"--server {address} --token-file {self.folder}/token"
        self.publish()

    def publish(self):
        if self.counted:
            self.run(f"tumbler publish project/root/1.json project/pins.json {self.counted}")

    def await_inquiries(self, count):
        """Waits until the service has stored so many requests that name a list."""
        database = self.folder / "data" / "tumbler.sqlite"

        def stored():
            with contextlib.closing(sqlite3.connect(database, timeout=30)) as connection:
                return connection.execute("SELECT COALESCE(SUM(count), 0) FROM inquiry").fetchone()[0]

        until(lambda: stored() >= count, f"{count} counted requests")

    def let_a_day_pass(self):
        """Without waiting: the requests so far are made older in the database."""
        with contextlib.closing(sqlite3.connect(self.folder / "data" / "tumbler.sqlite", timeout=30)) as connection:
            connection.execute("UPDATE inquiry SET hour = hour - 25")
            connection.commit()

    def announce(self, new):
        """Publishes a list that has another pin beside those that it had."""
        source = self.project / "tumbler.yaml"
        text, count = re.subn(
            r'^( *)- \{pin: "[^"]*", note: "backup"\}$', rf'\g<0>\n\1- {{pin: "{new}", note: "next"}}',
            source.read_text(), flags=re.MULTILINE,
        )  # fmt: skip
        if count != 1:
            raise Failure(f"the source has no backup pin: {source.read_text()}")
        source.write_text(text)
        self.run("cd project && tumbler release --yes --export www")
        self.publish()

    def deploy(self, chain, key, expected, *options):
        """Has the gate decide, and deploys what is safe: the exit code, and whether what the server reads changed."""
        before = self.deployed()
        gate = " ".join(["-C project --roots roots.pem", self.counted, *options])
        said = self.run(
            f"{SCRIPTS}/deploy-when-safe {HOST} {chain} {key} {self.live} {gate}", expected,
            RELOAD=getattr(self, "reload", ""),
        )  # fmt: skip
        if expected != 0 and self.deployed() != before:
            raise Failure(f"what the server reads changed: {said}")
        return said

    def deployed(self):
        file = self.live / "fullchain.pem"
        return fingerprint(file.read_text()) if file.exists() else None

    def expect_served(self, chain):
        """The server presents this certificate. A reload lets a server go on with the old one for a moment."""
        wanted = fingerprint((self.folder / chain).read_text())
        until(lambda: serves(self.port) == wanted, f"{chain} at the server")

    def start_nginx(self, folder, name="nginx"):
        """nginx with the certificate of a folder; the command that makes it read the folder again."""
        port, place = free_port(), self.folder / name
        place.mkdir()
        temporary = "".join(
            f"{kind}_temp_path {place}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (place / "nginx.conf").write_text(
            f"worker_processes 1; daemon off; pid {place}/pid; error_log {place}/error.log;\n"
            f"events {{ worker_connections 1024; }}\nhttp {{ access_log off; {temporary} keepalive_timeout 0;\n"
            f"server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/fullchain.pem;\n"
            f"ssl_certificate_key {folder}/privkey.pem; return 200 hello; }} }}\n"
        )
        command = [program("nginx"), "-p", str(place), "-c", str(place / "nginx.conf")]
        nginx = self.stack.enter_context(running(command, place / "out"))
        until(lambda: serves(port), "nginx", nginx)
        return port, " ".join([*command, "-s", "reload"])

    def start_caddy(self, folder):
        """Caddy with the certificate of a folder. Without --force it reads no file again that is named as before."""
        port, admin, place = free_port(), free_port(), self.folder / "caddy"
        place.mkdir()
        file = place / "Caddyfile"
        file.write_text(
            f"{{\n\tadmin localhost:{admin}\n\tauto_https off\n\tstorage file_system {place}/store\n}}\n"
            f"https://{HOST}:{port} {{\n\tbind 127.0.0.1\n\ttls {folder}/fullchain.pem {folder}/privkey.pem\n"
            '\trespond "hello"\n}\n'
        )
        caddy = self.stack.enter_context(
            running([program("caddy"), "run", "--config", str(file)], place / "out", env=self.environment)
        )
        until(lambda: serves(port), "Caddy", caddy)
        return port, f"{program('caddy')} reload --config {file} --address localhost:{admin} --force"

    def certbot(self, command):
        """certbot, in a folder of its own: what it said."""
        return self.run(f"certbot --config-dir certbot --work-dir certbot/work --logs-dir certbot/log {command}")

    def obtaining(self):
        return (
            f"--server {self.directory} --agree-tos --register-unsafely-without-email --standalone "
            f"--http-01-port {self.challenge_port}"
        )
