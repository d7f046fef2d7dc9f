#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks a program that watches itself, with the real tools, and prints what it noticed.

    attacks.py VICTIM [--record FOLDER] [--only PART] [--json FILE]

Each attack is in place before the program makes its next connections: one to a server with a key that is not pinned, of an
authority that is trusted, and one to the pinned server. It is done twice: to a program whose policy only records, which
shows whether the attack works, and to one that refuses. Prints a table: attack, whether it worked by itself, noticed at
those connections, by which signals, how long the look within the handshake took, whether both connections were refused, and
why; and what a look at everything finds afterwards. Exit 1 when one of the 24 could not be carried out, or fewer than 22
are noticed within one connection.

Needs .tools/frida17 and .tools/frida16 (scripts/python-tools tampering), gdb, strace, and the right to attach."""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from program import Program, with_servers  # noqa: E402
from record import record  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FRIDA = ("attach", "spawn", "hook-callback", "hook-custom-verify", "hook-verdict", "hook-hash", "hook-signature",
         "hook-open", "hook-connect", "attach-detach", "portal")  # fmt: skip
FEWEST = 22  # of those that count must be noticed within one connection
# What an attack is for, and whether it came to that: in the answer of a program that only records.
AIMS = {"hook-signature": lambda first, list: list["forged"], "hook-connect": lambda first, list: first["connected"]}
AIMS.update(dict.fromkeys(("spawn", "hook-callback", "hook-custom-verify", "hook-verdict", "hook-hash", "hook-own-key",
                           "gdb"), lambda first, list: first["trusted"]))  # fmt: skip
VERDICT = "$s18CertificatePinning0B6PolicyV8validate_3for2atAA0B8DecisionVAA13ValidatedPathV_SSAA9TimestampVtF"
# At the entry, rax says where the struct goes that is given back; before each return, the verdict in it is changed.
GDB = """set pagination off
set confirm off
python
saved = {{}}
class Entry(gdb.Breakpoint):
    def stop(self):
        saved[gdb.selected_thread().ptid] = int(gdb.parse_and_eval("$rax")) & (1 << 64) - 1
        return False
class Return(gdb.Breakpoint):
    def stop(self):
        out = saved.get(gdb.selected_thread().ptid)
        if out: gdb.selected_inferior().write_memory(out + {offset}, bytes([{allow}]))
        return False
start, end = {start}, {end}
code = gdb.selected_inferior().architecture().disassemble(start, end - 1)
for one in code:
    if one["asm"].startswith("ret"): Return("*" + hex(one["addr"]))
Entry("*" + hex(start))
print("in place")
end
continue
"""
LONGEST = 600.0  # seconds for an attack to be in place


def wait_for(text, path, process):
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        if text in path.read_text(errors="replace"):
            return
        if process.poll() is not None:
            break
        time.sleep(0.02)
    raise RuntimeError(f"{text!r} was not said: {path.read_text(errors='replace')[-400:]}")


def frida(version, attack, arguments):
    """Starts a victim and attacks it. Returns the victim, the attacker and the victim's process."""
    stage = Path(arguments[1]) / "stage.json"
    python = ROOT / ".tools" / version / "bin" / "python"
    read, write = os.pipe()
    if attack == "spawn":
        command = [python, HERE / "attacker.py", attack, stage, "-", str(write), *arguments]
        attacker = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[write])
        victim = Program(attacker, attacker.stdin, attacker.stdout)
    else:
        victim = Program.start(arguments)
        victim.hear()
        command = [python, HERE / "attacker.py", attack, stage, str(victim.process.pid), str(write)]
        attacker = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, pass_fds=[write])
    os.close(write)
    with os.fdopen(read) as status:
        words = status.readline().split()
    if not words:
        victim.end()
        raise RuntimeError("the attack failed")
    if attack == "spawn":
        victim.hear()
    return victim, attacker, int(words[1])


def place(program, pid):
    """Where the function of the verdict lies in a process, and how long it is."""
    symbols = subprocess.check_output(["nm", "-S", program], text=True).splitlines()
    offset, size = next(line.split()[:2] for line in symbols if line.endswith(VERDICT))
    with open(f"/proc/{pid}/maps") as maps:
        base = int(next(line for line in maps if program in line).split("-")[0], 16)
    return base + int(offset, 16), int(size, 16)


def tool(attack, arguments, folder):
    """The same with gdb or strace."""
    victim = Program.start(arguments)
    victim.hear()
    output = folder / f"{attack}.out"
    pid = str(victim.process.pid)
    if attack == "gdb":
        script = folder / "commands"
        stage = json.loads((Path(arguments[1]) / "stage.json").read_text())
        start, size = place(arguments[0], victim.process.pid)
        script.write_text(GDB.format(offset=stage["verdictOffset"], allow=stage["allowingByte"], start=start,
                                     end=start + size))  # fmt: skip
        command, said = ["gdb", "-q", "-nx", "-p", pid, "-x", str(script)], "in place"
    else:
        command, said = ["strace", "-f", "-p", pid], "attached"
    with output.open("w") as file:
        attacker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, stderr=file)
    wait_for(said, output, attacker)
    return victim, attacker, victim.process.pid


def run(name, arguments, folder, recordings):
    version, attack = name.split(" ", 1) if " " in name else (None, name)
    if version:
        victim, attacker, pid = frida(version, attack, arguments)
    else:
        victim, attacker, pid = tool(attack, arguments, folder)
    try:
        if recordings:
            record(pid, recordings / name.replace(" ", "-"))
        start = time.monotonic()
        first = victim.ask("connect")
        seconds = time.monotonic() - start
        offered = victim.ask("refresh")
        whole = victim.ask("look")
        return {
            "attack": name,
            "worked": AIMS[attack](first, offered) if attack in AIMS else None,
            "signals": [signal[0] for signal in first["signals"]],
            "evidence": whole["signals"],
            "answers": [first["foreign"], first["pinned"]],
            "microseconds": first["microseconds"],
            "milliseconds": round(seconds * 1000, 1),
            "refused": not first["trusted"] and not first["connected"],
            "later": [s[0] for s in whole["signals"] if s[0] not in [f[0] for f in first["signals"]]],
            "blind": whole["blind"],
        }
    finally:
        victim.end()
        if attacker is not victim.process:
            attacker.stdin.close()
            if not version:
                attacker.terminate()
            try:
                attacker.wait(10)
            except subprocess.TimeoutExpired:
                attacker.kill()
                attacker.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("victim")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folder = Path(options.victim).resolve().parent / "tampering"
    folder.mkdir(exist_ok=True)
    servers, command = with_servers(options.victim, folder)
    command.append("--policy")
    names = [f"{version} {attack}" for version in ("frida17", "frida16") for attack in FRIDA] + ["gdb", "strace"]
    counted = set(names)
    names += ["frida17 hook-own-key", "frida16 hook-own-key"]
    results, noticed, failed = [], 0, 0
    print("| attack | worked | at the connection | look, µs | answer, ms | refused | answers | also, looking at everything |\n"
          "|---|---|---|---|---|---|---|---|", flush=True)  # fmt: skip
    for name in [each for each in names if options.only in each]:
        try:
            alone = run(name, [*command, "none"], folder, None)
            result = run(name, [*command, "refuse"], folder, options.record)
        except (RuntimeError, OSError) as error:
            print(f"| {name} | could not be carried out: {error} |", flush=True)
            failed += name in counted
            continue
        result["worked"], result["alone"] = alone["worked"], alone
        results.append(result)
        noticed += bool(result["signals"]) and name in counted
        worked = {True: "yes", False: "no", None: "-"}[result["worked"]]
        print(f"| {name} | {worked} | {', '.join(result['signals']) or 'nothing'} | {result['microseconds']} "
              f"| {result['milliseconds']} | {'yes' if result['refused'] else 'no'} "
              f"| {', '.join(result['answers'])} | {', '.join(result['later']) or '-'} |", flush=True)  # fmt: skip
    if servers:
        servers.end()
    print(f"\n{noticed} of {len(counted)} noticed within one connection; {failed} not carried out")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    sys.exit(not options.only and (failed > 0 or noticed < FEWEST))


main()
