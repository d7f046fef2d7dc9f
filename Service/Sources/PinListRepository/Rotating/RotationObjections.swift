// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinRotation

extension ListSource {
    /// The objections to a rotation as the source stands, each one line: the new key is denied, a pin is that of a
    /// certificate, an entry lost the new pin after it was announced, or after the rotation an entry would have no backup.
    ///
    /// No look sees the pin of a certificate: that an old one was not seen for days says nothing.
    ///
    /// - Parameter plan: The plan.
    public func objections(to plan: RotationPlan) -> [String] {
        var objections: [String] = []
        if self.denied.contains(where: { $0.value.pin == plan.new.pin }) {
            objections.append("the new key is denied: denied: of tumbler.yaml has \(plan.new.pin)")
        }
        for pin in plan.pinsOfCertificates {
            objections.append("\(pin) is the pin of a certificate, and looks compare keys: it is never seen")
        }
        let denied = Set(self.denied.map(\.value.pin))
        let old = Set(plan.old.map(\.pin))
        for host in plan.entries {
            guard let domain = self.domains.first(where: { $0.host == host }) else {
                objections.append("\(host) has no entry any more")
                continue
            }
            let useful = domain.pins.map(\.known).filter { known in
                known.position == .any || plan.new.position == .any || known.position == plan.new.position
            }
            if plan.state != .planned, !useful.contains(where: { $0.pin == plan.new.pin }) {
                objections.append("\(host) lost the new pin in tumbler.yaml: add \(plan.new.pin) to its pins again")
            }
            if !useful.contains(where: { known in
                !old.contains(known.pin) && known.pin != plan.new.pin && !denied.contains(known.pin)
            }) {
                objections.append("after the rotation \(host) has no backup: add the pin of a spare key to its pins")
            }
        }
        return objections
    }

    /// The entries beside those of a rotation that have its new pin: perhaps the wrong file was named.
    public func others(with pin: Pin, beside entries: [HostName]) -> [HostName] {
        self.domains.filter { domain in
            !entries.contains(domain.host) && domain.pins.contains { $0.known.pin == pin }
        }.map(\.host)
    }
}
