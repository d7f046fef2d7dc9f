#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does one attack with Frida, and stays until its standard input ends.

    attacker.py ATTACK STAGE PID STATUS                   attaches to a process that runs
    attacker.py spawn STAGE - STATUS PROGRAM ARGUMENT…    starts one, which gets this program's input and output

STAGE is the file that the servers wrote: what an attacker knows. STATUS is the number of a descriptor: "ready" is written
to it when the attack is in place. Run by attacks.py with the Python of a virtual environment that has the version of Frida
in question."""

import json
import os
import sys
import threading
import time
from pathlib import Path

import frida

# What finds a function of the program by its symbol, or one of C's library by its name, in Frida 17 and 16.
FIND = """
const symbols = Process.enumerateModules()[0].enumerateSymbols().filter(s => !s.address.isNull());
function find(what) {
    const own = symbols.filter(s => what instanceof RegExp ? what.test(s.name) : s.name === what);
    if (own.length > 0) return own[0].address;
    for (const module of Process.enumerateModules()) {
        if (!module.name.startsWith('libc.so')) continue;
        const address = module.findExportByName(what);
        if (address !== null) return address;
    }
    throw new Error('no ' + what);
}
const stage = STAGE;
function bytes(text) { return text.match(/../g).map(pair => parseInt(pair, 16)); }
"""

# `PinningPolicy.validate`, which gives a struct through a pointer in rax.
VERDICT = "'$s18CertificatePinning0B6PolicyV8validate_3for2atAA0B8DecisionVAA13ValidatedPathV_SSAA9TimestampVtF'"
ALLOW = """
Interceptor.attach(find(%s), {
    onEnter(args) { this.out = this.context.rax; this.own = %s; },
    onLeave() { if (this.own) this.out.add(stage.verdictOffset).writeU8(stage.allowingByte); },
});
"""

# Makes a function of C answer something, to any question.
ANSWER = "Interceptor.attach(find(%s), { onLeave(result) { result.replace(%d); } });"

HASH = """
const prefix = '3059301306072a8648ce3d020106082a8648ce3d030107034200';
const known = bytes(stage.pin);
const begins = bytes(prefix);
const threads = new Set();
// What is hashed is copied before it ends: the thread tells that it is the same.
Interceptor.attach(find('CCryptoBoringSSL_SHA256_Update'), { onEnter(args) {
    threads.delete(this.threadId);
    if (args[2].toInt32() !== 91) return;
    const found = Array.from(new Uint8Array(args[1].readByteArray(26)));
    if (found.every((byte, index) => byte === begins[index])) threads.add(this.threadId);
} });
Interceptor.attach(find('CCryptoBoringSSL_SHA256_Final'), {
    onEnter(args) { this.out = threads.delete(this.threadId) ? args[0] : null; },
    onLeave() { if (this.out !== null) this.out.writeByteArray(known); },
});
"""

CUSTOM_VERIFY = """
const accept = new NativeCallback(() => 0, 'int', ['pointer', 'pointer']);
const identity = Memory.allocUtf8String('notarealPSKidentity');
function replace(name, isNeeded, result, types, make) {
    const own = symbols.filter(s => s.name === name);
    if (own.length === 0) { if (isNeeded) throw new Error('no ' + name); return; }
    const original = new NativeFunction(own[0].address, result, types);
    Interceptor.replace(own[0].address, new NativeCallback(make(original), result, types));
}
const set = original => (ssl, mode, callback) => original(ssl, mode, accept);
replace('CNIOBoringSSL_SSL_set_custom_verify', true, 'void', ['pointer', 'int', 'pointer'], set);
replace('CNIOBoringSSL_SSL_CTX_set_custom_verify', false, 'void', ['pointer', 'int', 'pointer'], set);
replace('CNIOBoringSSL_SSL_get_psk_identity', false, 'pointer', ['pointer'], () => () => identity);
"""

SCRIPTS = {
    "attach": "",
    "spawn": ALLOW % (VERDICT, "true"),
    # NIOSSL's callback, as BoringSSL calls it: 0 is ssl_verify_ok. No other function is called any more.
    "hook-callback": "Interceptor.replace(find(/6NIOSSL13SSLConnection.*setCustomVerificationCallback.*To$/),"
    " new NativeCallback(() => 0, 'int', ['pointer', 'pointer']));",
    # SSL Kill Switch's way, and that of the scripts that copy it: what sets a callback sets one that says yes, and there
    # is a PSK. A linker may have left out what the program does not call.
    "hook-custom-verify": CUSTOM_VERIFY,
    "hook-verdict": ALLOW % (VERDICT, "true"),
    # The hash of every P-256 key is that of the pinned one.
    "hook-hash": HASH,
    "hook-signature": ANSWER % ("'CCryptoBoringSSL_ECDSA_do_verify'", 1)
    + ANSWER % ("'CCryptoBoringSSL_ED25519_verify'", 1),
    # Lies to callers of libc about the state of the process.
    "hook-open": "const nothing = Memory.allocUtf8String('/dev/null');"
    + "".join(
        "Interceptor.attach(find('%s'), { onEnter(args) {"
        " if (args[%d].readUtf8String().startsWith('/proc/')) args[%d] = nothing; } });" % (name, index, index)
        for name, index in (("open", 0), ("open64", 0), ("openat", 1), ("openat64", 1), ("fopen", 0), ("fopen64", 0))
    ),
    # Leads connections for the pinned server to the attacker's.
    "hook-connect": """
Interceptor.attach(find('connect'), { onEnter(args) {
    const port = args[1].add(2);
    if (port.readU8() * 256 + port.add(1).readU8() !== stage.pinnedPort) return;
    port.writeU8(stage.foreignPort >> 8);
    port.add(1).writeU8(stage.foreignPort & 255);
} });
""",
    "attach-detach": ALLOW % (VERDICT, "true"),
    "portal": "",
    # Spares everything but its own certificate: what a careful attacker does. The path is an array of arrays of bytes.
    "hook-own-key": "const own = bytes(stage.foreignLeaf); function isOwn(path) { const leaf = path.add(32).readPointer();"
    " if (leaf.add(16).readU64().toNumber() !== own.length) return false;"
    " const found = new Uint8Array(leaf.add(32).readByteArray(own.length));"
    " return own.every((byte, index) => byte === found[index]); }" + ALLOW % (VERDICT, "isOwn(args[0])"),
}


def main():
    attack, stage, pid, status = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    known = json.dumps(json.loads(stage.read_text())) if stage.exists() else "{}"
    script = FIND.replace("STAGE", known) + SCRIPTS[attack]
    portal = None
    if attack == "portal":
        parameters = [frida.EndpointParameters(address="127.0.0.1", port=port) for port in (27052, 27042)]
        portal = frida.PortalService(*parameters)
        portal.start()
    spawned = None
    if attack == "spawn":
        spawned = frida.get_local_device().spawn(sys.argv[5:], stdio="inherit")
        pid = spawned
    session = frida.attach(int(pid))
    if SCRIPTS[attack]:
        loaded = session.create_script(script)
        failures = []
        loaded.on("message", lambda message, data: failures.append(message) if message["type"] == "error" else None)
        loaded.load()
        if failures:
            sys.exit(str(failures))
    if attack == "attach-detach":
        loaded.unload()
        session.detach()
        # The agent leaves some time after that. Who looks while it is still there has it easy.
        end = time.monotonic() + 5
        while "frida" in open("/proc/%s/maps" % pid).read() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.5)
    if attack == "portal":
        session.join_portal("127.0.0.1:27052")
        session.detach()
    if spawned is not None:
        frida.get_local_device().resume(spawned)
    os.write(status, ("ready %s\n" % pid).encode())
    if spawned is not None:
        # The input is the program's. It ends when that ends.
        while os.path.exists("/proc/%d" % spawned) and "State:\tZ" not in open("/proc/%d/status" % spawned).read():
            time.sleep(0.05)
    else:
        done = threading.Event()
        threading.Thread(target=lambda: (sys.stdin.read(), done.set()), daemon=True).start()
        done.wait()
    # Frida's own threads hold up a regular end.
    os._exit(0)


main()
