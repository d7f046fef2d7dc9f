# SPDX-License-Identifier: CC0-1.0
"""rollout.json: places of installations, by hashlib."""
import hashlib

from material import Case, write

SOURCE = "formats.md, section 3.2"
IDS = [bytes(16), bytes(range(16)), b"\xff" * 16, hashlib.sha256(b"an installation").digest()[:16]]
NAME = "com.example.app"


def number(installation, *texts):
    return int.from_bytes(hashlib.sha256(installation + b"".join(b"\0" + one.encode() for one in texts)).digest()[:8], "big")


def cases():
    for index, one in enumerate(IDS):
        for domain in ("api.example.com", "example.com", "192.0.2.1"):
            yield Case(f"rollout/place-{index}-{domain}", "the place for a domain: stable, and independent of other domains",
                       SOURCE, {"do": "place", "installation": one.hex(), "name": NAME, "domain": domain},
                       {"place": number(one, NAME, domain) % 100})
    yield Case("rollout/place-of-another-list", "the list's name is a part of it", SOURCE,
               {"do": "place", "installation": IDS[1].hex(), "name": "com.example.other", "domain": "api.example.com"},
               {"place": number(IDS[1], "com.example.other", "api.example.com") % 100})
    place = number(IDS[1], NAME, "api.example.com") % 100
    for share, why in [(0, "nobody"), (place, "its place is not below the share"), (place + 1, "its place is below the share"),
                       (99, "all but one place"), (100, "everybody")]:
        yield Case(f"rollout/enforces-{share}", why, SOURCE, {
            "do": "enforces", "installation": IDS[1].hex(), "name": NAME, "domain": "api.example.com", "rollout": share},
            {"enforces": place < share})
    for share in (99, 100):
        yield Case(f"rollout/enforces-without-id-{share}", "an installation whose id cannot be kept enforces only at 100", SOURCE,
                   {"do": "enforces", "name": NAME, "domain": "api.example.com", "rollout": share}, {"enforces": share == 100})
    for name, domain, day in [("domain", "api.example.com", "2026-11-21"), ("next-day", "api.example.com", "2026-11-22"),
                              ("no-entry", "", "2026-11-21")]:
        place = number(IDS[1], NAME, domain, "report" + day) % 1_000_000
        for share in (place, place + 1):
            for at in (f"{day}T00:00:00Z", f"{day}T23:59:59Z"):
                yield Case(f"rollout/reports-{name}-{'in' if share > place else 'out'}-{at[11:13]}",
                           "the same installations report all day (UTC), others on the next", SOURCE,
                           {"do": "sampled", "installation": IDS[1].hex(), "name": NAME, "at": at, "perMillion": share}
                           | ({"domain": domain} if domain else {}), {"reports": place < share})
    for share in (999_999, 1_000_000):
        yield Case(f"rollout/reports-without-id-{share}", "an installation whose id cannot be kept reports only at 1,000,000",
                   SOURCE, {"do": "sampled", "name": NAME, "at": "2026-11-21T00:00:00Z", "perMillion": share,
                            "domain": "api.example.com"}, {"reports": share == 1_000_000})


def main():
    write("rollout", "Who enforces an entry, and who reports its failures.", list(cases()))
