#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the programs and provisioning profiles of this folder, and expected.json, which says what stands in them.

    make.py                 needs openssl, and Python 3 with apple-platform-py 0.1.0 (rcodesign) for the files rcodesign-…

Keys and certificates are made anew each time and thrown away, so that the files differ from run to run; what expected.json
says of them does not, but for the hashes. Programs are Mach-O files of two pages that no system would run. Those named
own-… are signed here, by the format that XNU's <kern/cs_blobs.h> describes; those named rcodesign-… by another
implementation, whose reading of them is what expected.json has.
"""

import hashlib
import json
import plistlib
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TEAM, OTHER_TEAM = "A1B2C3D4E5", "Z9Y8X7W6V5"
BUNDLE = "com.example.bank"
ARM64, X86, ARM64_32 = 0x0100000C, 0x01000007, 0x0200000C
MACOS, IOS, WATCHOS, IOS_SIMULATOR = 1, 2, 4, 7
PAGE = 4096


def entitlements(team=TEAM, bundle=BUNDLE, debuggable=None, mac=False):
    prefix = "com.apple." if mac else ""
    values = {f"{prefix}application-identifier": f"{team}.{bundle}", "com.apple.developer.team-identifier": team}
    if debuggable is not None:
        values["com.apple.security.get-task-allow" if mac else "get-task-allow"] = debuggable
    return values


def macho(processor, platform, signature=None):
    """A program of two pages, and a third with the signature's place: `signature` is given what comes before."""
    wide = processor != ARM64_32
    segment_size = 72 if wide else 56
    commands = []
    count = 4 if signature else 3
    room = 6144 if signature else 0

    def segment(name, address, size, offset, file_size, protection, sections=b""):
        form = "<II16sQQQQIIII" if wide else "<II16sIIIIIIII"
        return struct.pack(form, 0x19 if wide else 0x01, segment_size + len(sections), name, address, size, offset,
                           file_size, protection, protection, 1 if sections else 0, 0) + sections  # fmt: skip

    base = 0x100000000 if wide else 0x4000
    text = struct.pack("<16s16sQQIIIIIIII" if wide else "<16s16sIIIIIIIII", b"__text", b"__TEXT", base + PAGE, PAGE, PAGE,
                       2, 0, 0, 0x80000400, 0, 0, *([0] if wide else []))  # fmt: skip
    commands.append(segment(b"__TEXT", base, 2 * PAGE, 0, 2 * PAGE, 5, text))
    linkedit = 16 + room
    commands.append(segment(b"__LINKEDIT", base + 2 * PAGE, 4 * PAGE, 2 * PAGE, linkedit, 1))
    commands.append(struct.pack("<IIIIII", 0x32, 24, platform, 0x000F0000, 0x000F0000, 0))
    if signature:
        commands.append(struct.pack("<IIII", 0x1D, 16, 2 * PAGE + 16, room))
    joined = b"".join(commands)
    header = struct.pack("<IIIIIII", 0xFEEDFACF if wide else 0xFEEDFACE, processor, 0, 2, count, len(joined), 0)
    header += b"\0\0\0\0" if wide else b""
    code = bytes(index * 7 % 251 for index in range(PAGE))
    content = (header + joined).ljust(PAGE, b"\0") + code + b"tables of names "
    if not signature:
        return content
    made = signature(content)
    assert len(made) <= room, len(made)
    return content + made.ljust(room, b"\0")


def blob(magic, body):
    return struct.pack(">II", magic, 8 + len(body)) + body


def directory(content, special, identifier, team, kind="sha256", flags=0):
    """A CodeDirectory of version 2.4."""
    number, size = {"sha1": (1, 20), "sha256": (2, 32), "sha384": (4, 48)}[kind]

    def digest(data):
        return hashlib.new(kind, data).digest() if data else bytes(size)

    slots = max(special) if special else 0
    names = identifier.encode() + b"\0" + (team.encode() + b"\0" if team else b"")
    fixed = 88
    hashes = fixed + len(names) + slots * size
    pages = [content[start : start + PAGE] for start in range(0, len(content), PAGE)]
    length = hashes + len(pages) * size
    header = struct.pack(">IIIIIIIIIBBBBIIIIQQQQ", 0xFADE0C02, length, 0x20400, flags, hashes, fixed, slots, len(pages),
                         len(content), size, number, 0, 12, 0, 0, fixed + len(identifier) + 1 if team else 0, 0, 0,
                         0, 2 * PAGE, 1)  # fmt: skip
    assert len(header) == fixed
    body = names + b"".join(digest(special.get(slot)) for slot in range(slots, 0, -1))
    return header + body + b"".join(hashlib.new(kind, page).digest() for page in pages)


class Certificate:
    """A key and a certificate, made by openssl, which is thrown away."""

    def __init__(self, folder, team):
        self.key, self.path = folder / f"{team}.key", folder / f"{team}.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
             "-subj", f"/CN=Test Distribution/OU={team}", "-keyout", self.key, "-out", self.path],
            check=True, capture_output=True)  # fmt: skip

    def sign(self, content, *options):
        return subprocess.run(
            ["openssl", "cms", "-sign", "-binary", "-signer", self.path, "-inkey", self.key, "-outform", "DER", *options],
            input=content, check=True, capture_output=True).stdout  # fmt: skip


def own(certificate, identifier=BUNDLE, team=TEAM, rights=None, kinds=("sha256",), flags=0):
    """What signs a program here."""

    def signature(content):
        requirements = blob(0xFADE0C01, struct.pack(">I", 0))
        special = {2: requirements}
        parts = [(2, requirements)]
        if rights is not None:
            special[5] = blob(0xFADE7171, plistlib.dumps(rights))
            parts.append((5, special[5]))
        directories = [directory(content, special, identifier, team, kind, flags) for kind in kinds]
        parts.insert(0, (0, directories[0]))
        parts += [(0x1000 + index, other) for index, other in enumerate(directories[1:])]
        message = certificate.sign(directories[0]) if certificate else b""
        parts.append((0x10000, blob(0xFADE0B01, message)))
        offset, index = 12 + 8 * len(parts), b""
        for kind, part in parts:
            index += struct.pack(">II", kind, offset)
            offset += len(part)
        body = index + b"".join(part for _, part in parts)
        return struct.pack(">III", 0xFADE0CC0, 12 + len(body), len(parts)) + body

    return signature


def fat(parts):
    """As `lipo -create` puts them together."""
    offset, header, body = 4096, struct.pack(">II", 0xCAFEBABE, len(parts)), b""
    for processor, part in parts:
        header += struct.pack(">IIIII", processor, 0, offset, len(part), 12)
        body += part.ljust(-(-len(part) // PAGE) * PAGE, b"\0")
        offset = 4096 + len(body)
    return header.ljust(4096, b"\0") + body


def profile(certificate, *options, team=TEAM, bundle=BUNDLE, devices=None, everywhere=False, debuggable=False):
    values = {
        "AppIDName": "Bank & Söhne <test>", "ApplicationIdentifierPrefix": [team], "TeamIdentifier": [team],
        "TeamName": "Example", "DeveloperCertificates": [bytes(range(200))], "TimeToLive": 364, "Version": 1,
        "Entitlements": {**entitlements(team, bundle, debuggable), "keychain-access-groups": [f"{team}.*"]},
    }  # fmt: skip
    if devices is not None:
        values["ProvisionedDevices"] = devices
    if everywhere:
        values["ProvisionsAllDevices"] = True
    return certificate.sign(plistlib.dumps(values), "-nodetach", *options)


def known(data):
    """What the second reader of this script's own finds in a program, part by part: see scripts/code-directory-hash."""
    script = HERE.parents[3] / "scripts" / "code-directory-hash"
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        printed = subprocess.run([sys.executable, script, file.name], capture_output=True, text=True)
    return [line.split()[:4] for line in printed.stdout.splitlines()]


def rcodesign(folder, certificates, files):
    """Programs that another implementation signed. Returns what it reads in them."""
    import apple_platform

    read = {}

    def sign(name, data, team, rights):
        path, text = folder / name, folder / f"{name}.plist"
        path.write_bytes(data)
        text.write_bytes(plistlib.dumps(rights))
        signer = None
        if team:
            made = apple_platform.certificates.generate_self_signed("Test", algorithm="ecdsa", team_id=team)
            pem = folder / f"{name}.pem"
            made.write_pem_bundle(pem)
            signer = apple_platform.Signer(pem=apple_platform.PemKey(files=[pem]))
        apple_platform.sign(path, signer=signer, binary_identifier=BUNDLE, entitlements_xml_file=text, team_name=team,
                            timestamp_url="none")  # fmt: skip
        files[name] = path.read_bytes()
        read[name] = apple_platform.read_signature(path)

    sign("rcodesign-enterprise", macho(ARM64, IOS), TEAM, entitlements())
    sign("rcodesign-debuggable", macho(ARM64, IOS), TEAM, entitlements(debuggable=True))
    sign("rcodesign-without-certificate", macho(ARM64, IOS), None, entitlements(debuggable=True))
    both = fat([(X86, macho(X86, MACOS)), (ARM64, macho(ARM64, MACOS))])
    sign("rcodesign-mac", both, TEAM, entitlements(mac=True))
    return read


def main():
    files, profiles = {}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        team, other = Certificate(folder, TEAM), Certificate(folder, OTHER_TEAM)
        files["own-release"] = macho(ARM64, IOS, own(team, rights=entitlements(debuggable=False)))
        files["own-two-hashes"] = macho(ARM64, IOS, own(team, rights=entitlements(), kinds=("sha1", "sha256")))
        files["own-development"] = macho(ARM64, IOS, own(team, rights=entitlements(debuggable=True)))
        files["own-without-certificate"] = macho(ARM64, IOS, own(None, rights=entitlements(), flags=2))
        files["own-other-team"] = macho(
            ARM64, IOS, own(other, team=OTHER_TEAM, rights=entitlements(OTHER_TEAM, debuggable=True)))
        files["own-other-bundle"] = macho(
            ARM64, IOS, own(team, identifier=f"{BUNDLE}.x1", rights=entitlements(bundle=f"{BUNDLE}.x1")))
        files["own-watch"] = macho(ARM64_32, WATCHOS, own(team, rights=entitlements()))
        files["own-simulator"] = macho(ARM64, IOS_SIMULATOR, own(None, team=None, flags=2))
        files["own-unsigned"] = macho(ARM64, IOS)
        mac = own(team, rights=entitlements(mac=True))
        files["own-mac"] = fat([(X86, macho(X86, MACOS, mac)), (ARM64, macho(ARM64, MACOS, mac))])
        everywhere, named = {"everywhere": True}, {"devices": ["00008030-001C2D3E4F5A6B7C"]}
        profiles["enterprise"] = profile(team, **everywhere)
        profiles["enterprise-in-pieces"] = profile(team, "-stream", **everywhere)
        profiles["ad-hoc"] = profile(team, **named)
        profiles["development"] = profile(team, **named, debuggable=True)
        profiles["store"] = profile(team)
        profiles["other-team"] = profile(other, team=OTHER_TEAM, **everywhere)
        profiles["other-bundle"] = profile(team, bundle="com.example.other", **everywhere)
        profiles["any-bundle"] = profile(team, bundle="*", **everywhere)
        read = rcodesign(folder, (team, other), files)
    expected = {name: known(data) for name, data in sorted(files.items())}
    for name, entities in read.items():
        check_against(name, expected[name], entities)
    for path in HERE.iterdir():
        if path.suffix in ("", ".mobileprovision"):
            path.unlink()
    for name, data in files.items():
        (HERE / name).write_bytes(data)
    for name, data in profiles.items():
        (HERE / f"{name}.mobileprovision").write_bytes(data)
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def check_against(name, lines, entities):
    """The other implementation reads the same in its own files."""
    text = json.dumps(entities)
    for line in lines:
        assert all(each == "-" or each in text for each in line[1:3]), (name, line, text)
        digest = line[0]
        assert digest in text, (name, digest, text)


main()
