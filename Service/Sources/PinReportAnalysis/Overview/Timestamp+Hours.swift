// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

extension Timestamp {
    /// Hours since 1970.
    package var hour: Int64 {
        let (hours, rest) = self.secondsSince1970.quotientAndRemainder(dividingBy: 3_600)
        return rest < 0 ? hours - 1 : hours
    }

    /// The part of the hour that has passed, 0 to 1.
    package var partOfHour: Double { Double(self.secondsSince1970 - self.hour * 3_600) / 3_600 }

    /// So many seconds before.
    package func before(_ seconds: Int64) -> Timestamp {
        Timestamp(secondsSince1970: self.secondsSince1970.subtractingReportingOverflow(seconds).partialValue)
    }
}
