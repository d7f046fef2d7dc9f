# SPDX-License-Identifier: CC0-1.0
"""Accepting a list: versions, times, and the attacks by name."""
from material import Signer, compact, envelope
from metadata_material import (NAME, NOW, OTHER_KEY, P256_KEY, PINS_KEY, ROOT_KEY, THIRD_KEY, Story, list_payload, pin_list,
                               root)

SEVEN = pin_list()
EIGHT = pin_list(8)


def cases():
    yield from versions()
    yield from times()
    yield from roots()
    yield from order()


def versions():
    yield Story("newer", "a list with a higher version replaces the one that is held", bundled=SEVEN).list(EIGHT).case()
    yield Story("first", "a client that ships no list takes the first that it is offered").list(SEVEN).case()
    yield Story("far-newer", "versions may be left out", bundled=SEVEN).list(pin_list(2**53 - 1)).case()
    yield (Story("rollback", "an older list with good signatures: a pin that was removed would come back", bundled=EIGHT)
           .list(SEVEN, "rollback").case())
    yield (Story("rollback-of-what-came-from-outside", "what came from outside bounds the next list, too", bundled=SEVEN)
           .list(EIGHT).list(SEVEN, "rollback").case())
    yield Story("unchanged", "the same envelope again is nothing new", bundled=SEVEN).list(SEVEN, "unchanged").case()
    other = pin_list(domains=[{"domain": "api.example.com", "mode": "off"}])
    yield (Story("equivocation", "two lists of one version: the publisher, or a thief of the key, says two things",
                 bundled=SEVEN).list(other, "equivocation").case())
    spelled = envelope(compact(list_payload()).replace('{"type"', '{ "type"'), [PINS_KEY])
    yield (Story("equivocation-by-white-space", "a payload is its bytes: another spelling of one version is another list",
                 bundled=SEVEN).list(spelled, "equivocation").case())
    reordered = SEVEN.replace('{"payloadType":"application/vnd.tumbler.pins+json",', "{", 1)[:-1] + (
        ',"payloadType":"application/vnd.tumbler.pins+json"}')
    yield (Story("same-payload-another-envelope", "the envelope may be spelled otherwise: the payload is the same",
                 bundled=SEVEN).list(reordered, "resigned").case())
    mark = {"name": NAME, "version": 8, "keyids": [PINS_KEY.id]}
    yield (Story("mark", "a mark that is kept outside of the folder bounds lists when the folder was deleted", bundled=SEVEN,
                 mark=mark, source="formats.md, section 6").list(SEVEN, "rollback").list(EIGHT).case())
    void = {"name": NAME, "version": 8, "keyids": [OTHER_KEY.id]}
    yield (Story("mark-of-other-keys", "a mark is void once its keys make no threshold under the newest root", mark=void,
                 source="formats.md, section 6").list(SEVEN).case())
    named = {"name": "com.example.other", "version": 8, "keyids": [PINS_KEY.id]}
    yield (Story("mark-of-another-name", "a mark of another list bounds nothing", mark=named,
                 source="formats.md, section 6").list(SEVEN).case())
    yield (Story("stored", "a stored list is loaded without a time, and the higher version is in force", bundled=SEVEN)
           .step("list", EIGHT, "loaded", at=None, force=(EIGHT, "current", "outside")).list(SEVEN, "rollback").case())
    yield (Story("stored-older-than-shipped", "an app update ships a newer list than the folder has", bundled=EIGHT)
           .step("list", SEVEN, "loaded", at=None).list(SEVEN, "rollback").case())
    yield (Story("stored-other-of-one-version", "of two lists of one version the shipped one is in force", bundled=SEVEN)
           .step("list", other, "loaded", at=None).list(other, "equivocation").case())
    yield (Story("stored-forgery", "a stored list that does not verify is not taken", bundled=SEVEN)
           .step("list", pin_list(9, [OTHER_KEY]), "unsigned", at=None).case())


def times():
    yield (Story("expires-now", "a list that expires at this very moment has expired", bundled=SEVEN)
           .list(EIGHT, "expired", at="2026-03-01T00:00:00Z", of="pins", stale=True).case())
    yield (Story("expires-in-a-second", "one second before its end it is taken", bundled=SEVEN)
           .list(EIGHT, at="2026-02-28T23:59:59Z").case())
    yield (Story("freeze", "an old list that expired is offered for ever: a client that holds none must not take it")
           .list(SEVEN, "expired", at="2026-06-01T00:00:00Z", of="pins").case())
    yield (Story("stale-stays", "a list that is held stays in force when it expires", bundled=SEVEN)
           .list(SEVEN, "unchanged", at="2026-06-01T00:00:00Z", stale=True).case())
    yield (Story("issued-a-day-ahead", "24 hours ahead of now are believed", bundled=SEVEN)
           .list(pin_list(8, issuedAt="2026-01-11T00:00:00Z")).case())
    yield (Story("issued-in-future", "one second more is not: it would put later lists out of reach", bundled=SEVEN)
           .list(pin_list(8, issuedAt="2026-01-11T00:00:01Z"), "issued-in-future").case())
    yield (Story("build-date", "no clock is believed that is earlier than the app", bundled=SEVEN, build="2026-06-01T00:00:00Z")
           .list(EIGHT, "expired", of="pins", stale=True).case())
    yield (Story("build-date-allows", "the build date counts for what is ahead of the clock, too", bundled=SEVEN,
                 build="2026-02-01T00:00:00Z").list(pin_list(8, issuedAt="2026-02-02T00:00:00Z")).case())
    late = pin_list(8, issuedAt="2026-02-20T00:00:00Z", expiresAt="2026-04-01T00:00:00Z")
    nine = pin_list(9, expiresAt="2026-02-15T00:00:00Z")
    yield (Story("clock-set-back", "the list in force says that it is later than the clock: what expired before it is refused",
                 bundled=SEVEN).list(late, at="2026-02-20T00:00:00Z")
           .list(nine, "expired", at="2026-01-02T00:00:00Z", of="pins").case())
    old = root(expiresAt="2026-01-05T00:00:00Z")
    yield (Story("root-expired", "a root that expired refuses what comes from outside, and what is held stays in force",
                 shipped=old, bundled=SEVEN, source="formats.md, sections 3.1 and 3.3").list(EIGHT, "expired", of="root").case())
    yield (Story("root-expires-in-a-second", "one second before its end", shipped=old, bundled=SEVEN,
                 source="formats.md, section 3.1").list(EIGHT, at="2026-01-04T23:59:59Z").case())
    yield (Story("root-expired-same-list", "what is held already is nothing new, whatever the root's end", shipped=old,
                 bundled=SEVEN).list(SEVEN, "unchanged").case())
    yield (Story("expired-root-is-followed", "the root after an expired one is followed: only the newest one's end counts",
                 shipped=old, bundled=SEVEN, source="formats.md, section 3.3").root(root(2)).list(EIGHT).case())


def roots():
    source = "formats.md, section 3.1"
    two = root(2)
    yield Story("root-next", "the next root is trusted", bundled=SEVEN, source=source).root(two).list(EIGHT).case()
    yield Story("root-gap", "a root is left out", bundled=SEVEN, source=source).root(root(3), "root-gap").case()
    yield (Story("root-again", "the root that is held is not the next one", bundled=SEVEN, source=source)
           .root(two).root(two, "rollback").case())
    yield (Story("root-older", "an older root", bundled=SEVEN, source=source).root(two).root(root(), "rollback").case())
    yield (Story("root-equivocation", "two roots of one version", bundled=SEVEN, source=source).root(two)
           .root(root(2, expiresAt="2028-12-02T00:00:00Z"), "equivocation").case())
    yield (Story("root-of-another-name", "a root of another list that has the same keys", bundled=SEVEN, source=source)
           .root(root(2, name="com.example.other"), "wrong-name").case())
    yield (Story("root-issued-in-future", "a root from over a day ahead", bundled=SEVEN)
           .root(root(2, issuedAt="2026-01-11T00:00:01Z"), "issued-in-future").case())
    yield (Story("root-issued-a-day-ahead", "24 hours are believed", bundled=SEVEN)
           .root(root(2, issuedAt="2026-01-11T00:00:00Z")).case())
    yield (Story("root-already-expired", "a root is followed whatever its end; lists are refused then", bundled=SEVEN)
           .root(root(2, expiresAt="2026-01-05T00:00:00Z")).list(EIGHT, "expired", of="root").case())
    yield (Story("root-not-by-the-old-keys", "new keys alone: whoever serves files would choose the keys", bundled=SEVEN,
                 source=source).root(root(2, [OTHER_KEY], root=[OTHER_KEY]), "unsigned").case())
    yield (Story("root-not-by-its-own-keys", "old keys alone: a root whose keys nobody has could never be replaced",
                 bundled=SEVEN, source=source).root(root(2, [ROOT_KEY], root=[OTHER_KEY]), "threshold-not-met").case())
    yield (Story("root-by-both", "old and new keys", bundled=SEVEN, source=source)
           .root(root(2, [ROOT_KEY, OTHER_KEY], root=[OTHER_KEY])).root(root(3), "unsigned")
           .root(root(3, [OTHER_KEY], root=[OTHER_KEY])).case())
    pair = dict(root=[ROOT_KEY, OTHER_KEY], root_threshold=2)
    shipped = root(1, [ROOT_KEY, OTHER_KEY], **pair)
    yield (Story("root-threshold", "one of the two keys that the old root asks for", shipped=shipped, bundled=SEVEN,
                 source=source).root(root(2, [ROOT_KEY]), "threshold-not-met").root(root(2, [ROOT_KEY, OTHER_KEY])).case())
    yield (Story("root-stored", "stored roots are loaded without a time", bundled=SEVEN)
           .step("root", root(2, issuedAt="2027-01-01T00:00:00Z"), "newer", at=None, root=2).case())
    replayed = pin_list(9, issuedAt="2026-01-05T00:00:00Z")
    fresh = pin_list(8, [THIRD_KEY], issuedAt="2026-01-08T00:00:00Z")
    without = root(2, pins=[THIRD_KEY], issuedAt="2026-01-07T00:00:00Z")
    yield (Story("list-replayed-after-a-root", "the root that removes a stolen key frees version and time; what the thief "
                 "signed is refused for ever", "issue 22", bundled=SEVEN)
           .list(replayed).root(without, force=(replayed, "superseded", "outside")).list(replayed, "unsigned")
           .list(fresh).list(replayed, "unsigned").case())
    both = pin_list(9, [PINS_KEY, THIRD_KEY], issuedAt="2026-01-05T00:00:00Z")
    yield (Story("list-issued-before-the-revoking-root", "signed by a signer of today, too, but issued before the root that "
                 "revoked the other one", bundled=SEVEN)
           .root(without, force=(SEVEN, "superseded", "bundled")).list(both, "rollback").list(fresh).case())
    exact = pin_list(8, [THIRD_KEY], issuedAt="2026-01-07T00:00:00Z")
    yield (Story("list-issued-with-the-revoking-root", "issued at the same second is late enough", bundled=SEVEN)
           .root(without, force=(SEVEN, "superseded", "bundled")).list(exact).case())
    ahead = pin_list(2**53 - 1, issuedAt="2026-01-10T12:00:00Z", expiresAt="2036-01-01T00:00:00Z")
    recovered = pin_list(8, [THIRD_KEY], issuedAt="2026-01-08T00:00:00Z")
    yield (Story("fast-forward-recovery", "a thief of the key publishes the highest version; a root without the key frees it",
                 bundled=SEVEN).list(ahead).list(EIGHT, "rollback")
           .root(without, force=(ahead, "superseded", "outside")).list(recovered).case())
    adding = root(2, pins=[PINS_KEY, THIRD_KEY], issuedAt="2026-01-07T00:00:00Z")
    yield (Story("adding-a-key", "adding a key supersedes nothing", bundled=SEVEN).root(adding)
           .list(SEVEN, "unchanged").list(pin_list(6), "rollback").list(pin_list(8, [THIRD_KEY])).case())
    yield (Story("superseded-stays", "a new root never sends a client back to an older list", bundled=pin_list(5))
           .list(SEVEN).root(without, force=(SEVEN, "superseded", "outside"))
           .list(pin_list(6, [THIRD_KEY], issuedAt="2026-01-08T00:00:00Z")).case())
    changed = root(2, pins=[P256_KEY], issuedAt="2026-01-07T00:00:00Z")
    signed = pin_list(8, [P256_KEY], issuedAt="2026-01-08T00:00:00Z")
    yield (Story("another-algorithm", "a signer of another algorithm", bundled=SEVEN)
           .root(changed, force=(SEVEN, "superseded", "bundled")).list(signed).case())


def order():
    source = "formats.md, section 3.3: the first failing check names the refusal"
    wrong = dict(name="com.example.other")
    yield (Story("order-unsigned-before-malformed", "a payload is not looked at before its signatures hold", source)
           .list(envelope("no JSON", [OTHER_KEY]), "unsigned").list(envelope("no JSON", [PINS_KEY]), "malformed").case())
    yield (Story("order-type-of-envelope-before-signatures", "the payload type is looked at first", source)
           .list(envelope(list_payload(), [OTHER_KEY], payload_type="application/json"), "wrong-type").case())
    yield (Story("order-name-before-rollback", "another name, and older", source, bundled=SEVEN)
           .list(pin_list(6, **wrong), "wrong-name").case())
    yield (Story("order-rollback-before-expired", "older, and expired", source, bundled=SEVEN)
           .list(pin_list(6, expiresAt="2026-01-02T00:00:00Z"), "rollback").case())
    yield (Story("order-equivocation-before-expired", "another of the version that is held, and expired", source,
                 bundled=SEVEN).list(pin_list(7, expiresAt="2026-01-02T00:00:00Z"), "equivocation").case())
    future = pin_list(8, issuedAt="2026-06-01T00:00:00Z", expiresAt="2026-06-02T00:00:00Z")
    old = root(expiresAt="2026-01-05T00:00:00Z")
    yield (Story("order-future-before-expired", "from the future, under a root that has expired", source, shipped=old,
                 bundled=SEVEN).list(future, "issued-in-future").case())
    yield (Story("order-root-before-list", "the root has expired, and the list", source, shipped=old, bundled=SEVEN)
           .list(pin_list(8, expiresAt="2026-01-05T00:00:00Z"), "expired", of="root").case())
    yield (Story("order-root-name-before-gap", "a root of another name, with a gap", source)
           .root(root(3, **wrong), "wrong-name").case())
    yield (Story("order-root-threshold-before-name", "a root of another name without its own signatures", source)
           .root(root(2, [ROOT_KEY], root=[OTHER_KEY], **wrong), "threshold-not-met").case())
    yield (Story("order-gap-before-future", "a root with a gap, from the future", source)
           .root(root(3, issuedAt="2027-01-01T00:00:00Z"), "root-gap").case())
    nobody = Signer("nobody")
    yield (Story("refused-changes-nothing", "what is refused changes nothing", source, bundled=SEVEN)
           .list(pin_list(9, [nobody]), "unsigned").list(pin_list(9, issuedAt="2026-02-01T00:00:00Z"), "issued-in-future")
           .list(EIGHT, at=NOW).case())
