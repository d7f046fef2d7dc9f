// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// What a device says of the app that asked, from iOS 27 on: a CBOR map at the end of authenticator data.
struct AuthenticatorExtensions {
    /// A reason for which a value is refused.
    struct ParsingError: Error {
        /// What is wrong, without a full stop.
        let reason: String
    }

    private static let categoryName = "apple_validation_category_01"
    private static let versionName = "apple_bundle_version_01"

    /// The most bytes of a version: `CFBundleVersion` has about ten.
    private static let maximumVersionLength = 255

    private let members: CBORValue?

    /// Reads what stands where extensions do: nothing, or one map. Members that are not known are passed over.
    ///
    /// - Throws: ``ParsingError`` for anything else.
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

    /// The launch category: four bytes, the lowest first; `nil` where it is not there.
    ///
    /// - Throws: ``ParsingError`` for another form.
    func category() throws(ParsingError) -> LaunchCategory? {
        guard let member = self.members?[Self.categoryName] else { return nil }
        guard let bytes = member.asBytes, bytes.count == 4 else {
            throw ParsingError(reason: "\(Self.categoryName) is not four bytes")
        }
        return LaunchCategory(rawValue: bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// The version of the app, `CFBundleVersion`; `nil` where it is not there.
    ///
    /// - Throws: ``ParsingError`` for another form.
    func bundleVersion() throws(ParsingError) -> String? {
        guard let member = self.members?[Self.versionName] else { return nil }
        guard let text = member.asText, text.utf8.count <= Self.maximumVersionLength else {
            throw ParsingError(reason: "\(Self.versionName) is no text of at most \(Self.maximumVersionLength) bytes")
        }
        return text
    }
}
#endif
