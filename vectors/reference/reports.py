# SPDX-License-Identifier: CC0-1.0
"""Failure reports and list incidents (formats.md, section 5)."""
import base64
import hashlib
import unicodedata

import pins
import times

RESULTS = {"pin-match": 0, "tampering": 0, "suspended": 0, "domain-expired": 0, "not-pinned": 0,
           "no-matching-pin": 1, "other-host-connection": 1, "denied-key": 1, "denied-undecidable": 1,
           "revoked": 1, "transparency": 1, "unlisted-denied": 1, "unlisted-reported": 1, "chain-invalid": 2,
           "no-certificates": 2, "over-budget": 2, "revocation-unknown": 2,
           "host-invalid": 3, "cleartext": 3}
_REPORTED = ("no-matching-pin", "unlisted-reported", "domain-expired", "cleartext", "other-host-connection", "transparency")
MAXIMUM_SIGNALS, MAXIMUM_ADDRESSES, MAXIMUM_CERTIFICATES, MAXIMUM_CHAIN_BYTES = 32, 8, 10, 65_536
MAXIMUM_SIGNAL = 256
# General categories of what nobody sees in a line: control and format characters, breaks, what is unassigned or private.
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def reason_of(decision):
    """The reason that a report of a decision gives; None when there is nothing to report."""
    if decision["verdict"] == "block":
        return decision["reason"]
    if "denied" in decision:
        return "denied-key"
    if "revoked" in decision:
        return "revoked"
    return decision["reason"] if decision["reason"] in _REPORTED else None


def _pem(certificate):
    text = base64.b64encode(certificate).decode()
    lines = [text[start:start + 64] for start in range(0, len(text), 64)]
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""])


def _chain(certificates):
    """As much of a chain as a report takes, the leaf first."""
    kept, left = [], MAXIMUM_CHAIN_BYTES
    for one in certificates[:MAXIMUM_CERTIFICATES]:
        left -= len(one)
        if left < 0:
            break
        kept.append(_pem(one))
    return kept


def _signal(text):
    """A signal as a line that is not too long."""
    line = "".join("?" if unicodedata.category(one) in _UNSEEN else one for one in text)
    return line if len(line) <= MAXIMUM_SIGNAL else line[:MAXIMUM_SIGNAL - 1] + "…"


def _app(app):
    members = {"app-bundle-id": app["bundleID"], "app-version": app["version"], "app-platform": app["platform"],
               "app-platform-version": app["platformVersion"]}
    return members | ({"app-vendor-id": app["vendorID"]} if "vendorID" in app else {})


def _list(pin_list, digest):
    return {"list-name": pin_list.name, "list-version": pin_list.version, "list-digest": digest}


def failure(decision, policy, digest, path, served, port, app, signals, web_view, at):
    """The report of a decision: where it goes, and its members; None when there is none."""
    entry = next((one for one in policy.entries if one["domain"] == decision["notedHostname"]), None)
    reason = reason_of(decision)
    addresses = entry and entry["reportTo"] or policy.list.report_to
    if reason is None or web_view and entry is None or not addresses:
        return None
    end = entry["expires"] if entry and entry["expires"] is not None else policy.list.expires
    known = [pin.split("/", 1)[1] for pin, _ in (entry["pins"] if entry else []) if pin.startswith("sha256/")]
    return {"to": addresses[:MAXIMUM_ADDRESSES], "body": {
        "date-time": times.write(at), "hostname": decision["host"], "port": port,
        "noted-hostname": decision["notedHostname"] or decision["host"],
        "include-subdomains": bool(entry and entry["includeSubdomains"]), "enforce-pinning": decision["enforced"],
        "effective-expiration-date": times.write(end),
        "served-certificate-chain": _chain(served),
        "validated-certificate-chain": _chain(path or []),
        "known-pins": [f'pin-sha256="{pin}"' for pin in known], "validation-result": RESULTS[reason], **_app(app),
        "tumbler": _list(policy.list, digest) | {"reason": reason, "signals": [
            _signal(one) for one in signals[:MAXIMUM_SIGNALS]]}}}


def incident(pin_list, digest, code, envelope, app, at):
    """The report of a list incident; `envelope` is that which was refused, where its signatures held."""
    evidence = {"envelope": base64.b64encode(envelope).decode()} if envelope is not None else {}
    return {"to": pin_list.report_to, "body": {
        "date-time": times.write(at), **_app(app),
        "tumbler": _list(pin_list, digest) | {"reason": code} | evidence}} if pin_list.report_to else None


def identity(decision, chain, port):
    """What two failures that are identical have in common."""
    issuer = None
    if chain:
        try:
            leaf = pins.fields(chain[0])
            if leaf["subject"] == leaf["issuer"] or len(chain) == 1:
                issuer = hashlib.sha256(leaf["issuer"]).hexdigest()
            else:
                issuer = pins.of_certificate(chain[1])
        except pins.Unreadable:
            issuer = "unreadable"
    return decision["notedHostname"], decision["host"], port, reason_of(decision), issuer
