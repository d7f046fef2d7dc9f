# SPDX-License-Identifier: CC0-1.0
"""Who enforces and who reports (formats.md, section 3.2): places that an installation id gives."""
import hashlib

import times


def _number(installation, *texts):
    data = installation + b"".join(b"\0" + text.encode() for text in texts)
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big")


def place(installation, name, domain):
    """The place among a hundred."""
    return _number(installation, name, domain) % 100


def enforces(installation, name, domain, rollout):
    """Whether an installation enforces; one whose id cannot be kept does so only at 100."""
    return rollout == 100 or installation is not None and place(installation, name, domain) < rollout


def report_place(installation, name, domain, at):
    """The place among a million on the day of a failure."""
    return _number(installation, name, domain, "report" + times.write(at)[:10]) % 1_000_000


def reports(installation, name, domain, at, per_million):
    """Whether an installation reports a failure of a domain (empty text: of hosts that no entry covers)."""
    if per_million == 1_000_000:
        return True
    return installation is not None and report_place(installation, name, domain, at) < per_million
