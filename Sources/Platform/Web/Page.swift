/// An answer of ``PageServer``.
package struct Page: Sendable {
    package var status: Int
    package var type: String
    package var body: [UInt8]

    package init(_ status: Int = 200, type: String = "text/plain; charset=utf-8", body: [UInt8]) {
        (self.status, self.type, self.body) = (status, type, body)
    }

    package init(_ status: Int, _ text: String) { self.init(status, body: Array((text + "\n").utf8)) }

    /// The whole answer; the connection ends with it.
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
