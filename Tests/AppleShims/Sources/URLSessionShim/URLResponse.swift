// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a server says before its data. `Sendable`: because nothing of it changes.
open class URLResponse: NSObject, @unchecked Sendable {
    /// Of which address.
    public let url: URL?
    /// The type of the content, without parameters.
    public let mimeType: String?
    /// How many bytes follow; -1 when that is not known.
    public let expectedContentLength: Int64
    /// The name of the text's encoding.
    public let textEncodingName: String?

    /// A response of any protocol.
    public init(url URL: URL, mimeType MIMEType: String?, expectedContentLength length: Int, textEncodingName: String?)
    {
        self.url = URL
        self.mimeType = MIMEType
        self.expectedContentLength = Int64(length)
        self.textEncodingName = textEncodingName
    }

    /// A name for a file with the data.
    open var suggestedFilename: String? { self.url?.lastPathComponent }
}

/// What a server says in HTTP. `Sendable`: because nothing of it changes.
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    /// The status, 200 for a success.
    public let statusCode: Int
    private let fields: [String: String]

    /// A response in HTTP; `nil` is for headers that cannot be: there are none here.
    public init?(url: URL, statusCode: Int, httpVersion HTTPVersion: String?, headerFields: [String: String]?) {
        self.statusCode = statusCode
        let fields = headerFields ?? [:]
        self.fields = fields
        func value(_ name: String) -> String? { fields.first { $0.key.lowercased() == name }?.value }
        let type = value("content-type")?.split(separator: ";").first.map(String.init)
        let length = value("content-length").flatMap { Int($0) } ?? -1
        super.init(url: url, mimeType: type, expectedContentLength: length, textEncodingName: nil)
    }

    /// All header fields.
    open var allHeaderFields: [AnyHashable: Any] { self.fields }

    /// A header field, by its name in any case.
    open func value(forHTTPHeaderField field: String) -> String? {
        self.fields.first { $0.key.lowercased() == field.lowercased() }?.value
    }

    /// What a status means.
    open class func localizedString(forStatusCode statusCode: Int) -> String { "status \(statusCode)" }
}
