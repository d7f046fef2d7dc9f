// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// The extensions of authenticator data about the requesting app, from iOS 27 on: a CBOR map at the end.
struct AuthenticatorExtensions {
    /// The defect of a refused value.
    struct ParsingError: Error {
        /// The explanation, without a full stop.
        let reason: String
    }

    private static let categoryName = "apple_validation_category_01"
    private static let versionName = "apple_bundle_version_01"

    /// The maximum length of a version in bytes: `CFBundleVersion` has about ten.
    private static let maximumVersionLength = 255

    private let members: CBORValue?

    /// Reads the extensions: nothing, or one map. Unknown members are ignored.
    ///
    /// - Throws: ``ParsingError`` for other bytes.
    init(_ bytes: ArraySlice<UInt8>) throws(ParsingError) {
        guard !bytes.isEmpty else {
            self.members = nil
            return
        }
        do throws(CBORError) {
            let value = try CBORReader.value(of: bytes)
            guard case .map = value else { throw CBORError(description: "no map") }
            self.members = value
        } catch {
            throw ParsingError(reason: "the extensions cannot be read: \(error)")
        }
    }

    /// The launch category: four bytes, the lowest first; `nil` where it is absent.
    ///
    /// - Throws: ``ParsingError`` for another form.
    func category() throws(ParsingError) -> LaunchCategory? {
        guard let member = self.members?[Self.categoryName] else { return nil }
        guard let bytes = member.asBytes, bytes.count == 4 else {
            throw ParsingError(reason: "\(Self.categoryName) is not four bytes")
        }
        return LaunchCategory(rawValue: bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// The version of the app, `CFBundleVersion`; `nil` where it is absent.
    ///
    /// - Throws: ``ParsingError`` for another form.
    func bundleVersion() throws(ParsingError) -> String? {
        guard let member = self.members?[Self.versionName] else { return nil }
        guard let text = member.asText, text.utf8.count <= Self.maximumVersionLength else {
            throw ParsingError(
                reason: "\(Self.versionName) is not a text of at most \(Self.maximumVersionLength) bytes")
        }
        return text
    }
}
#endif
