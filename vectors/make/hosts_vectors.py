# SPDX-License-Identifier: CC0-1.0
"""hosts.json: how hosts are normalised, and which entry applies."""
import ipaddress

from material import Case, write

SOURCE = "formats.md, section 2"


def normalised(name, why, host, answer):
    return Case(f"hosts/{name}", why, SOURCE, {"do": "normalise", "host": host}, answer)


def refused(name, why, host):
    return normalised(name, why, host, {"refused": "host-invalid"})


def address(name, why, host, like=None):
    return normalised(name, why, host, {"address": ipaddress.ip_address(like or host).packed.hex()})


def noted(name, why, host, entries, answer, source=SOURCE):
    listed = [{"domain": domain, "includeSubdomains": below} for domain, below in entries]
    return Case(f"hosts/{name}", why, source, {"do": "note", "entries": listed, "host": host}, answer)


def cases():
    yield normalised("plain", "a name as it is", "api.example.com", {"host": "api.example.com"})
    yield normalised("upper-case", "ASCII upper case is lowered", "API.Example.COM", {"host": "api.example.com"})
    yield normalised("trailing-dot", "one trailing dot is removed", "api.example.com.", {"host": "api.example.com"})
    yield normalised("single-label", "a name of one label", "localhost", {"host": "localhost"})
    yield normalised("underscore", "underscores are allowed", "_dmarc.my_host.example", {"host": "_dmarc.my_host.example"})
    yield normalised("a-label", "A-labels are compared as bytes", "xn--bcher-kva.example", {"host": "xn--bcher-kva.example"})
    yield normalised("hyphens", "a hyphen may stand anywhere", "-a-.example", {"host": "-a-.example"})
    yield normalised("digits-inside", "labels of digits that are not last", "1.2.3.example", {"host": "1.2.3.example"})
    yield normalised("last-label-begins-with-digit", "only all digits, or 0x, are a number", "host.1a", {"host": "host.1a"})
    label, longest = "a" * 63, ".".join(["a" * 63] * 3 + ["a" * 61])
    yield normalised("label-63", "the longest label", f"{label}.example", {"host": f"{label}.example"})
    yield refused("label-64", "one beyond the longest label", f"a{label}.example")
    yield normalised("name-253", "the longest name", longest, {"host": longest})
    yield normalised("name-253-and-dot", "the dot does not count", longest + ".", {"host": longest})
    yield refused("name-254", "one beyond the longest name", longest + "a")
    for name, why, host in [
            ("empty", "the empty name", ""), ("dot", "a dot alone", "."), ("two-dots", "an empty label", "api..example.com"),
            ("leading-dot", "an empty label in front", ".example.com"), ("dots-at-the-end", "one dot is removed, not two",
             "example.com.."), ("space", "a blank", "api example.com"), ("leading-space", "a blank in front", " api.example.com"),
            ("nul", "a NUL: what C takes for the end of the name", "api.example.com\0.evil.example"),
            ("line-break", "a line break", "api.example.com\n"), ("slash", "a path", "api.example.com/"),
            ("port", "a port is no part of a host", "api.example.com:443"), ("user", "a user is no part of a host",
             "user@api.example.com"), ("wildcard", "a wildcard is no host", "*.example.com"),
            ("u-label", "names outside of ASCII are not converted here", "b\u00fccher.example"),
            ("full-width", "letters that look alike", "\uff41pi.example.com"),
            ("ideographic-dot", "a dot that some resolvers take for one", "api\u3002example.com"),
            ("kelvin-sign", "a letter that lower case makes ASCII of", "\u212aey.example"),
            ("percent", "percent-encoding is not undone", "api%2eexample.com"),
            ("ipv4-octal", "leading zeros: octal for some", "127.0.0.010"), ("ipv4-256", "a number beyond 255", "1.2.3.256"),
            ("ipv4-three", "inet_aton's short form", "127.0.1"), ("ipv4-one", "inet_aton's shortest form", "2130706433"),
            ("ipv4-hex", "inet_aton's hexadecimal form", "0x7f000001"), ("ipv4-hex-last", "a last label in hexadecimal",
             "a.0x1"), ("ipv4-five", "five numbers", "1.2.3.4.5"), ("last-label-digits", "a last label of digits",
             "example.123"), ("last-label-0x", "a last label that begins 0x", "example.0xzz"),
            ("ipv6-zone", "a zone id", "fe80::1%eth0"), ("ipv6-zone-brackets", "a zone id in brackets", "[fe80::1%25eth0]"),
            ("ipv6-one-bracket", "a bracket alone", "[::1"), ("ipv6-other-bracket", "a bracket alone", "::1]"),
            ("ipv6-two-gaps", "two gaps", "1::2::3"), ("ipv6-nine", "nine groups", "1:2:3:4:5:6:7:8:9"),
            ("ipv6-five-digits", "a group of five digits", "12345::"), ("ipv6-seven", "seven groups without a gap",
             "1:2:3:4:5:6:7"), ("ipv6-port", "an address with a port", "[::1]:443"), ("ipv6-empty", "brackets alone", "[]"),
            ("name-in-brackets", "a name in brackets", "[example.com]")]:
        yield refused(name, why, host)
    yield address("ipv4", "four numbers", "192.0.2.1")
    yield address("ipv4-zeros", "zeros", "0.0.0.0")
    yield address("ipv4-most", "the highest one", "255.255.255.255")
    yield address("ipv4-dot", "a trailing dot is removed from an address, too", "192.0.2.1.", "192.0.2.1")
    yield address("ipv6", "eight groups", "2001:db8:0:0:0:0:0:1")
    yield address("ipv6-gap", "the same in its short form", "2001:db8::1")
    yield address("ipv6-upper-case", "the same in upper case", "2001:DB8::1")
    yield address("ipv6-brackets", "the same in brackets", "[2001:db8::1]", "2001:db8::1")
    yield address("ipv6-leading-zeros", "the same with leading zeros", "2001:0db8::0001")
    yield address("ipv6-all-zeros", "nothing but a gap", "::")
    yield address("ipv6-with-ipv4", "an address that ends as IPv4", "64:ff9b::192.0.2.1")
    yield address("ipv6-mapped", "an IPv4-mapped address is the IPv4 one", "::ffff:192.0.2.1", "192.0.2.1")
    yield address("ipv6-mapped-hex", "the same in hexadecimal", "::ffff:c000:201", "192.0.2.1")
    yield from notes()


def notes():
    below, alone = ("example.com", True), ("example.com", False)
    yield noted("note-exact", "the exact name", "example.com", [alone], {"noted": "example.com"})
    yield noted("note-case-and-dot", "both sides are normalised", "EXAMPLE.com.", [("Example.COM.", False)],
                {"noted": "Example.COM."})
    yield noted("note-parent", "a parent with includeSubdomains", "a.b.example.com", [below], {"noted": "example.com"})
    yield noted("note-parent-without", "a parent without it", "a.example.com", [alone], {"noted": None})
    yield noted("note-suffix", "matching is by label: evilexample.com is not under example.com", "evilexample.com", [below],
                {"noted": None})
    yield noted("note-nearer", "a nearer entry replaces a farther one", "x.a.example.com", [below, ("a.example.com", True)],
                {"noted": "a.example.com"})
    yield noted("note-nearer-does-not-cover", "a nearer one that does not cover it leaves it to the farther one",
                "x.a.example.com", [below, ("a.example.com", False)], {"noted": "example.com"})
    yield noted("note-exact-first", "the exact name goes before a parent", "a.example.com", [below, ("a.example.com", False)],
                {"noted": "a.example.com"})
    yield noted("note-child-is-not-parent", "an entry does not cover what is above it", "example.com",
                [("a.example.com", True)], {"noted": None})
    yield noted("note-other-host", "another host's entry does not apply (ktor's defect of 2025: any host's pin was accepted)",
                "b.example", [("a.example", True), ("c.example", True)], {"noted": None}, "ktor issue 5309")
    yield noted("note-top-level", "an entry of one label with includeSubdomains", "a.com", [("com", True)], {"noted": "com"})
    yield noted("note-address", "an address matches exactly", "192.0.2.1", [("192.0.2.1", False)], {"noted": "192.0.2.1"})
    yield noted("note-address-spelled", "an address in another spelling", "[2001:DB8::1]", [("2001:db8:0::1", False)],
                {"noted": "2001:db8:0::1"})
    yield noted("note-mapped-address", "an IPv4-mapped address equals the IPv4 one", "::ffff:192.0.2.1",
                [("192.0.2.1", False)], {"noted": "192.0.2.1"})
    yield noted("note-u-label-request", "a request for a name outside of ASCII has no entry", "b\u00fccher.example",
                [("xn--bcher-kva.example", True)], {"refused": "host-invalid"})


def main():
    write("hosts", "How hosts are normalised, and which entry of a list applies (the noted hostname).", list(cases()))
