#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the recordings that the detectors' tests read: clean processes here, attacked ones with attacks.py.

    recordings.py VICTIM            writes Tests/RuntimeIntegrityTests/Recorded/

Needs what attacks.py needs, faketime and libjemalloc2."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from program import with_servers  # noqa: E402
from record import record  # noqa: E402

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "RuntimeIntegrityTests" / "Recorded"
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
KEPT = [f"frida{version}-{attack}" for version in (17, 16)
        for attack in ("attach", "spawn", "hook-verdict", "attach-detach", "portal")] + ["gdb", "strace"]  # fmt: skip


def main():
    victim = str(Path(sys.argv[1]).resolve())
    servers, command = with_servers(victim, Path(victim).parent / "tampering")
    plain = {"LANG": "C.UTF-8", "PATH": os.environ["PATH"]}
    clean = {
        "clean-swift": (command, plain),
        "clean-c": (["cat"], plain),
        "clean-python": (["/usr/bin/python3", "-c", "import sys; sys.stdin.read()"], plain),
        "jit": ([*command, "--jit"], plain),
        "faketime": (command, plain | {"LD_PRELOAD": str(LIBRARIES / "faketime/libfaketime.so.1")}),
        "jemalloc": (command, plain | {"LD_PRELOAD": str(LIBRARIES / "libjemalloc.so.2")}),
        "container": (["unshare", "--user", "--map-root-user", "--pid", "--mount", "--mount-proc", "--net", "--fork",
                       "sh", "-c", "exec /bin/cat"], plain),
    }  # fmt: skip
    for name, (command, environment) in clean.items():
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        time.sleep(0.5)
        pid = process.pid
        if name == "container":
            pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        record(pid, FOLDER / name, whole=name == "clean-swift")
        process.stdin.close()
        process.wait(20)
    if servers:
        servers.end()
    attacked = FOLDER.parent / "attacked"
    subprocess.run([sys.executable, str(HERE / "attacks.py"), victim, "--record", str(attacked)], check=True)
    for name in KEPT:
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        shutil.move(attacked / name, FOLDER / name)
    shutil.rmtree(attacked)


main()
