// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPKCS11
internal import Foundation

/// A module of PKCS #11 in this process, initialised.
///
/// A module cannot be unloaded safely: its threads may run on. It stays until the process ends.
struct PKCS11Module {
    /// The environment variable with the path of the module, where a name does not say it.
    static let variable = "TUMBLER_PKCS11_MODULE"

    /// The maximum number of slots that are looked at: a machine has a few readers, and a module may claim any number.
    private static let maximumSlots: p11_number = 1_024

    /// The folders of modules that are named without a path.
    private static let folders = [
        "/usr/lib/softhsm", "/usr/lib/pkcs11", "/usr/lib64/pkcs11", "/usr/local/lib/softhsm", "/usr/local/lib",
        "/opt/homebrew/lib", "/opt/homebrew/lib/softhsm",
    ]

    let functions: p11_functions

    /// Loads the module that a name means, and initialises it.
    ///
    /// - Throws: ``RepositoryError`` when there is none, or it cannot be used.
    init(for uri: PKCS11URI, environment: [String: String]) throws(RepositoryError) {
        var module = p11_module()
        var reason: String?
        let paths = try Self.paths(for: uri, environment)
        for path in paths {
            reason = p11_load(path, &module).map { String(cString: $0) }
            if reason == nil { break }
        }
        guard reason == nil, let functions = module.functions else {
            throw RepositoryError(
                .signer, "\(uri): the module \(uri.moduleName ?? paths.last ?? "") cannot be used: \(reason ?? "")",
                hint: "module-path=/path/to/module.so, or the environment variable \(Self.variable)")
        }
        self.functions = functions.pointee
        var arguments = p11_initialize_arguments()
        arguments.flags = 2  // CKF_OS_LOCKING_OK
        let status = self.functions.initialize?(&arguments) ?? .max
        guard status == PKCS11Error.success || status == PKCS11Error.alreadyInitialised else {
            throw PKCS11Error(code: status).error(uri.description, doing: "initialise its module")
        }
    }

    private static func paths(
        for uri: PKCS11URI, _ environment: [String: String]
    ) throws(RepositoryError) -> [String] {
        if let path = uri.modulePath { return [path] }
        if let name = uri.moduleName {
            let files = ["lib\(name).so", "\(name).so", "lib\(name).dylib"]
            // The loader knows the system's folders; what it says last is what is told.
            return Self.folders.flatMap { folder in files.map { "\(folder)/\($0)" } } + files.reversed()
        }
        if let path = environment[Self.variable], !path.isEmpty { return [path] }
        throw RepositoryError(
            .usage, "\(uri): which module?",
            hint: "?module-path=/path/to/module.so, or the environment variable \(Self.variable)")
    }

    /// The slots whose token fits a name.
    func slots(for uri: PKCS11URI) throws(PKCS11Error) -> [p11_number] {
        var count: p11_number = 0
        try PKCS11Error.check(self.functions.get_slot_list?(1, nil, &count) ?? .max)
        var slots = [p11_number](repeating: 0, count: Int(min(count, Self.maximumSlots)))
        count = p11_number(slots.count)
        try PKCS11Error.check(self.functions.get_slot_list?(1, &slots, &count) ?? .max)
        // A module may claim more than it was given room for.
        return slots.prefix(Int(min(count, p11_number(slots.count)))).filter { slot in
            if let wanted = uri.slot, slot != p11_number(wanted) { return false }
            guard let label = self.label(ofTokenIn: slot) else { return false }
            return uri.token.map { label == Array($0.utf8) } ?? true
        }
    }

    /// The label of a token that is ready for use; `nil` of one that is not.
    private func label(ofTokenIn slot: p11_number) -> [UInt8]? {
        var info = p11_token_info()
        let isInitialised: p11_number = 0x400
        guard self.functions.get_token_info?(slot, &info) == PKCS11Error.success, info.flags & isInitialised != 0
        else {
            return nil
        }
        var label = withUnsafeBytes(of: &info.label) { Array($0) }
        while label.last == UInt8(ascii: " ") || label.last == 0 { label.removeLast() }
        return label
    }
}
