# SPDX-License-Identifier: CC0-1.0
"""nspinneddomains.json: what Apple's frameworks decide by NSPinnedDomains."""
import hashlib

from material import Case, b64, write

SOURCE = "Security.framework, SecPolicy.c and SecPolicyServer.c (published source)"
LEAF, CA, ROOT, OTHER = (hashlib.sha256(name).digest() for name in (b"leaf", b"ca", b"root", b"other"))
PATH = [LEAF, CA, ROOT]


def identities(*keys):
    return [{"SPKI-SHA256-BASE64": key if isinstance(key, str) else b64(key)} for key in keys]


def rule(leaf=None, ca=None, below=None):
    value = {} if below is None else {"NSIncludesSubdomains": below}
    if leaf is not None:
        value["NSPinnedLeafIdentities"] = identities(*leaf)
    if ca is not None:
        value["NSPinnedCAIdentities"] = identities(*ca)
    return value


def case(name, why, configuration, host, pinned, accepted, path=PATH):
    return Case(f"nspinneddomains/{name}", why, SOURCE, {
        "do": "nspinneddomains", "configuration": configuration, "host": host, "path": [b64(key) for key in path]},
        {"pinned": pinned, "accepted": accepted})


def cases():
    host, parent = "a.example.com", "example.com"
    yield case("leaf", "a leaf identity", {host: rule([LEAF])}, host, True, True)
    yield case("leaf-mismatch", "another leaf", {host: rule([OTHER])}, host, True, False)
    yield case("ca", "a CA identity", {host: rule(ca=[CA])}, host, True, True)
    yield case("ca-root", "a CA identity may be the root's", {host: rule(ca=[ROOT])}, host, True, True)
    yield case("ca-is-not-the-leaf", "a CA identity does not match the leaf", {host: rule(ca=[LEAF])}, host, True, False)
    yield case("leaf-is-not-a-ca", "a leaf identity does not match a CA", {host: rule([CA])}, host, True, False)
    yield case("both", "both lists match", {host: rule([LEAF], [CA])}, host, True, True)
    yield case("both-leaf-alone", "the leaf matches, the CA does not", {host: rule([LEAF], [OTHER])}, host, True, False)
    yield case("both-ca-alone", "the CA matches, the leaf does not", {host: rule([OTHER], [CA])}, host, True, False)
    yield case("ca-of-a-single-certificate", "a self-signed leaf has no CA", {host: rule(ca=[LEAF])}, host, True, False, [LEAF])
    yield case("unlisted", "a host that no entry covers", {host: rule([OTHER])}, "b.example.com", False, True)
    yield case("parent", "a parent with NSIncludesSubdomains", {parent: rule([LEAF], below=True)}, host, True, True)
    yield case("parent-without", "a parent without it", {parent: rule([OTHER])}, host, False, True)
    yield case("parent-false", "a parent where it is false", {parent: rule([OTHER], below=False)}, host, False, True)
    yield case("two-levels", "one level of subdomains is covered", {parent: rule([OTHER], below=True)}, "b.a.example.com", False,
               True)
    nested = {parent: rule(ca=[CA], below=True), host: rule([LEAF])}
    yield case("union-leaf-under-ca", "leaf pins of the child and CA pins of the parent are taken together: both match",
               nested, host, True, True)
    yield case("union-leaf-under-ca-locks-out", "the child's leaf matches, the parent's CA does not: refused, where a nearest "
               "entry alone would accept it", {parent: rule(ca=[OTHER], below=True), host: rule([LEAF])}, host, True, False)
    yield case("union-widens", "the child's leaf does not match, the parent's does: accepted, where a nearest entry alone would "
               "refuse it", {parent: rule([LEAF], below=True), host: rule([OTHER])}, host, True, True)
    yield case("union-widens-cas", "the child's CA does not match, the parent's does: accepted", {
        parent: rule(ca=[CA], below=True), host: rule(ca=[OTHER])}, host, True, True)
    yield case("union-ca-under-leaf", "CA pins of the child and leaf pins of the parent: both have to match", {
        parent: rule([OTHER], below=True), host: rule(ca=[CA])}, host, True, False)
    yield case("union-of-both-kinds", "both entries have both lists: one of each of the four matches where two would do", {
        parent: rule([LEAF], [OTHER], below=True), host: rule([OTHER], [CA])}, host, True, True)
    yield case("union-not-two-levels", "the entry two levels above is not taken with it", {
        parent: rule(ca=[OTHER], below=True), "b.a.example.com": rule([LEAF])}, "b.a.example.com", True, True)
    yield case("union-for-the-parent-itself", "the parent's own host is judged by the parent's entry alone", {
        parent: rule(ca=[CA], below=True), host: rule([OTHER])}, parent, True, True)
    yield case("union-not-without-subdomains", "a parent that does not cover the child adds nothing",
               {parent: rule([LEAF]), host: rule([OTHER])}, host, True, False)
    yield case("empty-array", "an array that is there and empty: nothing matches", {host: rule([])}, host, True, False)
    yield case("empty-array-in-a-union", "an empty array of the child beside the parent's pins", {
        parent: rule([LEAF], below=True), host: rule([])}, host, True, True)
    yield case("invalid-base64", "what is no base64 is dropped, and the array stays", {host: rule(["*"])}, host, True, False)
    yield case("host-case-and-dot", "hosts are compared in lower case and without the last dot", {"A.Example.com": rule([OTHER])},
               "a.EXAMPLE.com.", True, False)


def main():
    write("nspinneddomains", "Apple's NSPinnedDomains: the pins of all entries that match are taken together.", list(cases()))
