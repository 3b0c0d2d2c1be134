import PushModel

/// Splits `scheme://[user[:password]@]host[:port][/path][?query]` into parts. Decodes percent encoding in user and password. Does
/// not check whether the parts are valid.
struct LocatorText {
    let scheme: String
    let user: String?
    let password: String?
    /// Host and port as the user wrote them.
    let authority: Substring
    /// The path with its leading slash; empty without a path.
    let path: Substring
    let query: Substring?

    /// Nil if the text has no `scheme://` or a malformed percent escape.
    init?(_ text: String) {
        guard let mark = text.firstRange(of: "://"), mark.lowerBound > text.startIndex else { return nil }
        scheme = text[..<mark.lowerBound].lowercased()
        var rest = text[mark.upperBound...]
        if let start = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: start)...]
            rest = rest[..<start]
        } else {
            query = nil
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        path = rest[slash...]
        let authority = rest[..<slash]
        guard let at = authority.lastIndex(of: "@") else {
            self.authority = authority
            (user, password) = (nil, nil)
            return
        }
        self.authority = authority[authority.index(after: at)...]
        let credentials = authority[..<at]
        let colon = credentials.firstIndex(of: ":") ?? credentials.endIndex
        guard let name = Self.decoded(credentials[..<colon]),
            let secret = Self.decoded(credentials[colon...].dropFirst())
        else { return nil }
        user = name.isEmpty ? nil : name
        password = colon == credentials.endIndex ? nil : secret
    }

    /// Decodes percent encoding; nil for a malformed escape, or if the result is not UTF-8.
    static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let pair = Hexadecimal.bytes(of: rest.prefix(2)), pair.count == 1 else { return nil }
            bytes += pair
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

enum FilePathText {
    /// Returns `path` itself if it is absolute. Otherwise returns `folder` and `path` joined, without `./` at the start of
    /// `path`.
    static func resolve(_ path: String, in folder: String) -> String {
        if path.hasPrefix("/") { return path }
        var path = path[...]
        while path.hasPrefix("./") { path = path.dropFirst(2).drop { $0 == "/" } }
        if path == "." || path.isEmpty { return folder }
        return folder.hasSuffix("/") ? folder + path : folder + "/" + path
    }

    /// The folder of the file `path`; `.` for a name without a folder.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// A password. The description of a password is `(secret)`.
package struct Password: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let value: String

    package init(_ value: String) {
        self.value = value
    }

    /// Returns the password itself. Pass the password only to the library that needs it, never to a log or a message.
    package func reveal() -> String { value }

    package var description: String { "(secret)" }
    package var debugDescription: String { "(secret)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
