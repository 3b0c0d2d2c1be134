/// A request to ``PageServer``: the first line of an HTTP/1.1 request whose head has arrived.
package struct PageRequest: Equatable, Sendable {
    /// The maximum size of a request head in bytes. Browsers and scrapers send less.
    package static let longestHead = 8 << 10

    package let method: String
    /// The path of the request, without a query.
    package let path: String

    package enum Reading: Equatable, Sendable {
        case incomplete
        case whole(PageRequest)
        /// A malformed or unsupported request, with the status of the response.
        case bad(Int)
    }

    package static func read(_ bytes: some Collection<UInt8>) -> Reading {
        guard let end = bytes.endOfHead else {
            return bytes.count > longestHead ? .bad(431) : .incomplete
        }
        guard end <= longestHead else { return .bad(431) }
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words[2].starts(with: Array("HTTP/1.".utf8)),
            words.allSatisfy({ $0.allSatisfy { (0x21...0x7E).contains($0) } && !$0.isEmpty })
        else { return .bad(400) }
        let path = words[1].prefix { $0 != UInt8(ascii: "?") }
        return .whole(
            PageRequest(
                method: String(decoding: words[0], as: UTF8.self),
                path: String(decoding: path, as: UTF8.self)))
    }
}

extension Collection<UInt8> {
    /// The size of a message's head with its empty line; nil until the empty line has arrived.
    var endOfHead: Int? {
        var (count, scanner) = (0, HeadScanner())
        for byte in self {
            count += 1
            if scanner.ends(with: byte) { return count }
        }
        return nil
    }
}

/// A response of ``PageServer``.
package struct PageResponse: Sendable {
    package var status: Int
    package var type: String
    package var body: [UInt8]

    package init(_ status: Int = 200, type: String = "text/plain; charset=utf-8", body: [UInt8]) {
        (self.status, self.type, self.body) = (status, type, body)
    }

    package init(_ status: Int, _ text: String) { self.init(status, body: Array((text + "\n").utf8)) }

    /// The complete response. The connection is closed after the response.
    func bytes(hasBody: Bool) -> [UInt8] {
        let head =
            "HTTP/1.1 \(status) \(Self.words[status] ?? "Status")\r\nContent-Type: \(type)\r\n"
            + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + (hasBody ? body : [])
    }

    private static let words = [
        200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
        431: "Request Header Fields Too Large", 503: "Service Unavailable",
    ]
}

/// Finds the empty line that ends a message's head. The scanner reads each byte of the head once, also when the head arrives in
/// several parts.
struct HeadScanner {
    private var breaks = 0

    /// - Returns: whether the head ends with this byte.
    mutating func ends(with byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\n"): breaks += 1
        case UInt8(ascii: "\r"): break
        default: breaks = 0
        }
        guard breaks == 2 else { return false }
        breaks = 0
        return true
    }
}
