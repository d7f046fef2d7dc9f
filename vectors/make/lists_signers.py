# SPDX-License-Identifier: CC0-1.0
"""Signatures: thresholds, keys that nobody knows, hybrid demands, and signatures that are cut off."""
import base64

from cryptography.hazmat.primitives.asymmetric import utils

from material import Signer, compact, digest, envelope, pae
from metadata_material import (ML_KEY, OTHER_KEY, P256_KEY, PINS_KEY, ROOT_KEY, THIRD_KEY, Story, list_payload, pin_list, root,
                               root_payload, unloadable)

SEVEN = pin_list()
SOURCE = "formats.md, section 3"


class Strange:
    """A key of an algorithm to come."""

    def __init__(self, algorithm="slh-dsa-128s", data=b"a key of an algorithm to come"):
        self.algorithm, self.name, self.der, self.id = algorithm, algorithm, data, digest(data)
        self.entry = {"algorithm": algorithm, "publicKey": base64.b64encode(data).decode()}


def cases():
    yield from thresholds()
    yield from forgeries()
    yield from unknown()
    yield from hybrid()
    yield from cut_off()


def thresholds():
    two = dict(pins=[PINS_KEY, OTHER_KEY, THIRD_KEY], pins_threshold=2)
    yield (Story("threshold-met", "two of three", SOURCE, shipped=root(**two)).list(pin_list(7, [PINS_KEY, THIRD_KEY])).case())
    yield (Story("threshold-not-met", "one of the two that are asked for", SOURCE, shipped=root(**two))
           .list(SEVEN, "threshold-not-met").case())
    yield (Story("threshold-one-key-twice", "a key counts once however often it signs", SOURCE, shipped=root(**two))
           .list(pin_list(7, [PINS_KEY, PINS_KEY]), "threshold-not-met").case())
    payload = list_payload()
    again = P256_KEY.sign(pae("application/vnd.tumbler.pins+json", compact(payload).encode()))
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    twin = again[:32] + (order - int.from_bytes(again[32:], "big")).to_bytes(32, "big")
    ecdsa = dict(pins=[P256_KEY, OTHER_KEY], pins_threshold=2)
    yield (Story("threshold-two-signatures-of-one-key", "two different signatures of one key are one signer", SOURCE,
                 shipped=root(**ecdsa))
           .list(envelope(payload, [], extra=[("a", again), ("b", twin)]), "threshold-not-met").case())
    yield (Story("ecdsa-either-s", "a signature of P-256 and its twin with the other s both hold", SOURCE,
                 shipped=root(pins=[P256_KEY])).list(envelope(payload, [], extra=[("", twin)])).case())
    yield (Story("keyid-is-a-hint", "a keyid decides nothing: a signature counts for the key under which it holds", SOURCE)
           .list(pin_list(7, hints={"pins": OTHER_KEY.id})).case())
    yield (Story("keyid-names-another-key", "a good keyid beside a signature of somebody else", SOURCE)
           .list(pin_list(7, [OTHER_KEY], hints={"other": PINS_KEY.id}), "unsigned").case())
    yield (Story("signed-by-the-root-key", "a key of the role root is none of the role pins", SOURCE)
           .list(pin_list(7, [ROOT_KEY]), "unsigned").case())
    yield (Story("foreign-signature-beside", "signatures by keys that the root does not know are ignored", SOURCE)
           .list(pin_list(7, [OTHER_KEY, PINS_KEY])).case())
    yield Story("p256", "a list signed with P-256", SOURCE, shipped=root(pins=[P256_KEY])).list(pin_list(7, [P256_KEY])).case()
    yield Story("ml-dsa-65", "a list signed with ML-DSA-65", SOURCE, shipped=root(pins=[ML_KEY])).list(
        pin_list(7, [ML_KEY])).case()
    yield unloadable("shipped-root-unsigned", "a shipped root carries a threshold of its own", "root", "unsigned",
                     root(1, [OTHER_KEY]))
    yield unloadable("shipped-root-threshold", "a shipped root with too few signatures", "root", "threshold-not-met",
                     root(1, [ROOT_KEY], root=[ROOT_KEY, OTHER_KEY], root_threshold=2))
    yield unloadable("shipped-list-unsigned", "there is no client without a list that verifies", "pins", "unsigned",
                     bundled=pin_list(7, [OTHER_KEY]))
    yield unloadable("shipped-list-of-another-name", "a shipped list of another name", "pins", "wrong-name",
                     bundled=pin_list(name="com.example.other"))


def forgeries():
    good = PINS_KEY.sign(pae("application/vnd.tumbler.pins+json", compact(list_payload()).encode()))

    def offered(signature):
        return envelope(list_payload(), [], extra=[(PINS_KEY.id, signature)])
    for name, why, signature in [
            ("bit-flipped", "one bit of the signature", good[:-1] + bytes([good[-1] ^ 1])),
            ("zeros", "a signature of zeros", bytes(64)), ("empty-signature", "a signature of no bytes", b""),
            ("short", "a signature that is a byte short is ignored", good[:-1]),
            ("long", "a signature with a byte more is ignored", good + b"\0"),
            ("payload-alone", "a signature over the payload without PAE", PINS_KEY.key.sign(compact(list_payload()).encode())),
            ("root-type", "a signature for another payload type",
             PINS_KEY.sign(pae("application/vnd.tumbler.root+json", compact(list_payload()).encode())))]:
        yield Story(f"forgery-{name}", why, SOURCE).list(offered(signature), "unsigned").case()
    yield Story("no-signatures", "an envelope without signatures", SOURCE).list(pin_list(7, []), "unsigned").case()
    ecdsa = root(pins=[P256_KEY])
    raw = P256_KEY.sign(pae("application/vnd.tumbler.pins+json", compact(list_payload()).encode()))
    for name, why, signature in [
            ("ecdsa-zeros", "r and s are 0: every key accepts them where nobody looks (CVE-2022-21449)", bytes(64)),
            ("ecdsa-der", "a signature of P-256 in DER is none here", utils.encode_dss_signature(
                int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))),
            ("ecdsa-65-bytes", "a zero in front of s: the same numbers, another length", raw[:32] + b"\0" + raw[32:])]:
        yield (Story(f"forgery-{name}", why, SOURCE, shipped=ecdsa)
               .list(envelope(list_payload(), [], extra=[(P256_KEY.id, signature)]), "unsigned").case())
    other = "application/vnd.tumbler.root+json"
    yield (Story("root-as-list", "a root where a list is asked for", SOURCE)
           .list(envelope(root_payload(), [PINS_KEY], payload_type=other), "wrong-type").case())
    yield (Story("root-as-list-relabelled", "a root's payload under a list's payload type, signed by the signer of lists",
                 SOURCE).list(envelope(root_payload(), [PINS_KEY]), "wrong-type").case())
    yield (Story("list-as-root", "a list where a root is asked for", SOURCE)
           .root(envelope(list_payload(), [ROOT_KEY]), "wrong-type").case())


def unknown():
    strange = Strange()
    yield (Story("unknown-algorithm-is-followed", "a client of today follows a root that has a key of an algorithm to come",
                 SOURCE, bundled=SEVEN).root(root(2, pins=[PINS_KEY, strange])).list(pin_list(8)).case())
    alone = root(2, pins=[strange], issuedAt="2026-01-05T00:00:00Z")
    yield (Story("unknown-algorithm-alone", "a threshold that only unknown keys could reach: lists are refused, and what is "
                 "held stays in force", SOURCE, bundled=SEVEN).root(alone, force=(SEVEN, "superseded", "bundled"))
           .list(pin_list(8), "unsigned").case())
    far = root(2, pins=[PINS_KEY, strange], pins_threshold=2)
    yield (Story("unknown-algorithm-needed", "one known key where two are asked for", SOURCE, bundled=SEVEN)
           .root(far, force=(SEVEN, "superseded", "bundled")).list(pin_list(8), "threshold-not-met").case())
    yield (Story("unknown-algorithm-root-key", "the same for keys of roots: the next root is out of reach", SOURCE,
                 bundled=SEVEN).root(root(2, root=[ROOT_KEY, strange])).root(root(3)).case())
    liar = Strange("ed448", PINS_KEY.der)
    yield (Story("known-key-under-an-unknown-algorithm", "a key is its algorithm and its bytes: under another name it verifies "
                 "nothing", SOURCE, shipped=root(pins=[liar])).list(SEVEN, "unsigned").case())
    yield (Story("algorithm-changed", "a root that changes a key's algorithm revokes the key", SOURCE, bundled=SEVEN)
           .root(root(2, pins=[liar], issuedAt="2026-01-05T00:00:00Z"), force=(SEVEN, "superseded", "bundled"))
           .list(pin_list(8), "unsigned").case())
    for name, entry in [
            ("p256-named-ed25519", {"algorithm": "ed25519", "publicKey": P256_KEY.entry["publicKey"]}),
            ("ed25519-named-p256", {"algorithm": "ecdsa-p256-sha256", "publicKey": PINS_KEY.entry["publicKey"]})]:
        key = P256_KEY if name.startswith("p256") else PINS_KEY
        payload = root_payload(also=[key]) | {}
        payload["keys"] = payload["keys"] | {key.id: entry}
        yield unloadable(f"key-form-{name}", "a known algorithm with a key in another form", "root", "malformed",
                         envelope(payload, [ROOT_KEY], "root"))
    for name, point in [("identity", b"\x01" + bytes(31)), ("order-2", b"\xec" + b"\xff" * 30 + b"\x7f"),
                        ("order-4", bytes(32)), ("order-4-sign", bytes(31) + b"\x80"),
                        ("order-8", bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")),
                        ("order-8-other", bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")),
                        ("not-canonical", b"\xee" + b"\xff" * 30 + b"\x7f")]:
        key = Strange("ed25519", bytes.fromhex("302a300506032b6570032100") + point)
        yield unloadable(f"key-small-order-{name}", "an Ed25519 key of small order, under which anybody can sign", "root",
                         "malformed", envelope(root_payload(also=[key]), [ROOT_KEY], "root"))
    off = Strange("ecdsa-p256-sha256", P256_KEY.der[:-1] + bytes([P256_KEY.der[-1] ^ 1]))
    yield unloadable("key-off-the-curve", "a P-256 key that is no point of the curve", "root", "malformed",
                     envelope(root_payload(also=[off]), [ROOT_KEY], "root"))
    short = Strange("ml-dsa-65", ML_KEY.der[:-1])
    yield unloadable("key-ml-dsa-short", "an ML-DSA-65 key that is a byte short", "root", "malformed",
                     envelope(root_payload(also=[short]), [ROOT_KEY], "root"))


def hybrid():
    source = "formats.md, section 3.1"
    asks = dict(pins_hybrid=([ML_KEY], 1))
    yield (Story("hybrid-met", "both demands are met", source, shipped=root(**asks)).list(pin_list(7, [PINS_KEY, ML_KEY])).case())
    yield (Story("hybrid-first-alone", "the first demand alone, by a client that can verify the other one", source,
                 shipped=root(**asks)).list(SEVEN, "threshold-not-met").case())
    yield (Story("hybrid-other-alone", "the hybrid demand alone", source, shipped=root(**asks))
           .list(pin_list(7, [ML_KEY]), "threshold-not-met").case())
    yield (Story("hybrid-neither", "nothing that verifies", source, shipped=root(**asks))
           .list(pin_list(7, [OTHER_KEY]), "unsigned").case())
    beyond = dict(pins_hybrid=([ML_KEY, Strange()], 1))
    yield (Story("hybrid-beyond-this-client", "a client that cannot verify every key of the demand asks for the first alone",
                 source, shipped=root(**beyond)).list(SEVEN).case())
    yield (Story("hybrid-shipped", "what an app ships goes by the first demand", source, shipped=root(**asks), bundled=SEVEN)
           .list(pin_list(8), "threshold-not-met").list(pin_list(8, [PINS_KEY, ML_KEY])).case())
    yield (Story("hybrid-added", "a root that adds a demand supersedes nothing", source, bundled=SEVEN).root(root(2, **asks))
           .list(SEVEN, "threshold-not-met").list(pin_list(8, [PINS_KEY, ML_KEY])).case())
    yield (Story("hybrid-of-roots-new", "the new root's hybrid demand holds for itself", source)
           .root(root(2, [ROOT_KEY], root_hybrid=([ML_KEY], 1)), "threshold-not-met")
           .root(root(2, [ROOT_KEY, ML_KEY], root_hybrid=([ML_KEY], 1))).case())
    yield (Story("hybrid-of-roots-old", "the old root's hybrid demand holds for the next one", source,
                 shipped=root(1, root_hybrid=([ML_KEY], 1))).root(root(2), "threshold-not-met")
           .root(root(2, [ROOT_KEY, ML_KEY])).case())
    yield (Story("hybrid-of-roots-stored", "stored roots are held to both demands, too", source,
                 shipped=root(1, root_hybrid=([ML_KEY], 1))).step("root", root(2), "threshold-not-met", at=None).case())
    yield (Story("hybrid-stored-list", "a stored list goes by the first demand", source, shipped=root(**asks))
           .step("list", SEVEN, "loaded", at=None, force=(SEVEN, "current", "outside")).case())
    yield unloadable("hybrid-keyid-in-both", "no keyid stands in both demands", "root", "malformed",
                     root(1, pins_hybrid=([PINS_KEY], 1)), source=source)
    yield unloadable("hybrid-threshold-beyond", "a hybrid threshold above the number of keyids", "root", "malformed",
                     root(1, pins_hybrid=([ML_KEY], 2)), source=source)


def cut_off():
    source = "formats.md, section 3.3, signatures are not lost; issue 22: a signature cut off"
    both = root(pins=[PINS_KEY, OTHER_KEY])
    two, one = pin_list(7, [PINS_KEY, OTHER_KEY]), SEVEN
    yield (Story("signature-cut-off", "the signature of a second signer is cut off by whoever serves lists", source,
                 shipped=both, bundled=two).list(one, "signature-lost").case())
    yield (Story("signature-added", "an envelope with a signature more replaces the one that is held", source, shipped=both,
                 bundled=one).list(two, "resigned").list(one, "signature-lost").case())
    coming = pin_list(7, [PINS_KEY, THIRD_KEY])
    yield (Story("signature-of-a-signer-to-come-cut-off", "a signature that no root held knows yet", source, bundled=coming)
           .list(one, "signature-lost").case())
    moved = root(2, pins=[THIRD_KEY], issuedAt="2025-12-31T00:00:00Z")
    yield (Story("signature-of-a-signer-to-come-keeps-the-list", "what it is for: the list stays current after the root that "
                 "removes the old signer", source, bundled=one).list(coming, "resigned").root(moved)
           .list(pin_list(6, [THIRD_KEY]), "rollback").case())
    altered = envelope(list_payload(), [PINS_KEY], extra=[(THIRD_KEY.id, Signer("forger").key.sign(b"something else"))])
    yield (Story("signature-of-a-signer-to-come-replaced", "other bytes under the same keyid are another signature", source,
                 bundled=coming).list(altered, "signature-lost").case())
    rekeyed = pin_list(7, [PINS_KEY, THIRD_KEY], hints={"third": "renamed", "pins": ""})
    yield (Story("signature-renamed", "the same signatures with other hints are all there", source, bundled=coming)
           .list(rekeyed, "resigned").case())
    by_root = pin_list(7, [PINS_KEY, ROOT_KEY])
    yield (Story("signature-of-a-root-key-cut-off", "every key of the newest root counts, whatever its role", source,
                 bundled=by_root).list(one, "signature-lost").case())
    later = root(2, pins=[OTHER_KEY], issuedAt="2025-12-31T00:00:00Z")
    yield (Story("signature-of-an-old-signer-goes", "a signature that holds only under an older root's key may go", source,
                 shipped=both, bundled=two).root(later).list(pin_list(7, [OTHER_KEY]), "resigned").case())
