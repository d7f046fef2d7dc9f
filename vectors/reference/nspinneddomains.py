# SPDX-License-Identifier: CC0-1.0
"""Apple's NSPinnedDomains, as Security.framework decides (its published source, SecPolicy.c and SecPolicyServer.c):
the pins of all entries that match are taken together, for leaf and CA separately, and a path has to satisfy both."""
import base64
import binascii


def _pins(entries, name):
    """The pins of all entries of a kind, or None where no entry has that kind."""
    lists = [entry[name] for entry in entries if name in entry]
    if not lists:
        return None
    found = set()
    for one in (one for pins in lists for one in pins):
        try:
            found.add(base64.b64decode(one.get("SPKI-SHA256-BASE64", ""), validate=True))
        except (ValueError, binascii.Error):
            pass
    return found


def evaluate(configuration, host, path):
    """Whether the host is pinned, and whether a path (SHA-256 of each key, leaf first) is accepted."""
    host = host.lower().removesuffix(".")
    parent = host.partition(".")[2]
    names = {name.lower().removesuffix("."): entry for name, entry in configuration.items()}
    entries = [names[host]] if host in names else []
    if parent in names and names[parent].get("NSIncludesSubdomains"):
        entries.append(names[parent])
    leaf, authority = _pins(entries, "NSPinnedLeafIdentities"), _pins(entries, "NSPinnedCAIdentities")
    accepted = leaf is None or path[0] in leaf
    accepted = accepted and (authority is None or any(key in authority for key in path[1:]))
    return {"pinned": leaf is not None or authority is not None, "accepted": accepted}
