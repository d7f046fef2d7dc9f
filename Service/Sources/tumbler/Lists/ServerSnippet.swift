// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import PinListRepository

/// Configuration of a web server that serves the tree of `export` as the service does: types, how long it is kept,
/// `404`, and the SHA-256 as the entity tag (formats.md, section 7). It stays as it is when a list is released.
struct ServerSnippet {
    private let root: String
    private let name: String

    /// Makes a snippet.
    ///
    /// - Parameters:
    ///   - folder: The folder that `export` wrote.
    ///   - name: The name of the list.
    /// - Throws: ``CommandError`` for a path that neither server can be told.
    init(_ folder: URL, name: String) throws(CommandError) {
        let path = folder.standardizedFileURL.path
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"\"'`$\\{};#".utf8.contains($0) }) else {
            throw CommandError(
                .usage, "\(path): a blank or a mark in this path means something else to a web server",
                hint: "export into a folder with a plain path, such as /srv/pins")
        }
        self.root = path
        self.name = name
    }

    private var base: String { "/v1/lists/\(self.name)" }
    private var escapedBase: String { self.base.replacing(".", with: "\\.") }

    /// For `server { }` of nginx.
    var nginx: [String] {
        """
        # Lists of Tumbler as a static host serves them. Include this in server { }: it stays as it is after a release.
        location \(self.base)/ {
            return 404;
        }
        location = \(self.base)/pins.json {
            limit_except GET { deny all; }
            # `current` leads to a folder that is named for the SHA-256 of the list: that is the entity tag.
            root \(self.root)\(self.base)/current;
            if ($realpath_root ~ "/([0-9a-f]{64})$") { set $tumbler_digest $1; }
            set $tumbler_asked "$tumbler_digest $http_if_none_match";
            add_header ETag "\\"$tumbler_digest\\"";
            add_header Cache-Control "public, max-age=300";
            if ($tumbler_asked ~ "^([0-9a-f]{64}) .*\\"\\1(-gzip)?\\"") { return 304; }
            rewrite ^ /pins.json break;
            etag off;
            if_modified_since off;
            gzip off;
            types { }
            default_type application/json;
        }
        location ~ "^\(self.escapedBase)/(root/[0-9]+|logs/[0-9a-f]{64})\\.json$" {
            limit_except GET { deny all; }
            root \(self.root);
            error_page 404 = @tumbler_missing;
            add_header Cache-Control "public, max-age=31536000, immutable";
            gzip off;
            types { }
            default_type application/json;
        }
        location @tumbler_missing {
            add_header Cache-Control "public, max-age=60" always;
            return 404;
        }
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// For a site's block of a Caddyfile. Caddy keeps its own entity tag for caches, and answers 304 to both.
    var caddy: [String] {
        """
        # Lists of Tumbler as a static host serves them. Import this into the block of a site: it stays as it is after a
        # release.
        handle \(self.base)/* {
            root * \(self.root)
            @tumbler_other not method GET HEAD
            @tumbler_list path \(self.base)/pins.json
            @tumbler_immutable {
                path_regexp ^\(self.escapedBase)/(root/[0-9]+|logs/[0-9a-f]{64})\\.json$
                file
            }
            header Content-Type application/json
            header @tumbler_list Cache-Control "public, max-age=300"
            header @tumbler_immutable Cache-Control "public, max-age=31536000, immutable"
            handle @tumbler_other {
                respond 405
            }
            handle @tumbler_list {
                # `current` leads to a folder with the list, and with a file that is named for the list's SHA-256.
                @tumbler_asked header_regexp tumbler_asked If-None-Match "\\"([0-9a-f]{64})(-gzip)?\\""
                handle @tumbler_asked {
                    @tumbler_held file \(self.base)/current/{re.tumbler_asked.1}
                    handle @tumbler_held {
                        respond 304
                    }
                    handle {
                        rewrite * \(self.base)/current/pins.json
                        file_server
                    }
                }
                handle {
                    rewrite * \(self.base)/current/pins.json
                    file_server
                }
            }
            handle @tumbler_immutable {
                file_server
            }
            handle {
                header Cache-Control "public, max-age=60"
                respond 404
            }
        }
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}
