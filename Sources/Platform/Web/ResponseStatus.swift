/// Reads the status of an HTTP/1.1 response as its bytes arrive, and ignores the body.
///
/// A few interim responses (100 Continue) may precede it. Each head has a bounded size, and each byte is read once.
package struct ResponseStatus {
    package enum Progress: Equatable, Sendable {
        case incomplete
        case status(Int)
        /// Not a response, a head that is too long, or too many interim responses.
        case bad
    }

    private static let mostInterim = 8

    private var head: [UInt8] = []
    private var scanner = HeadScanner()
    private var interim = 0
    private var end: Progress?

    package init() {}

    /// - Returns: the status; it no longer changes once it is known.
    package mutating func read(_ bytes: some Sequence<UInt8>) -> Progress {
        for byte in bytes where end == nil {
            head.append(byte)
            if scanner.ends(with: byte) {
                end = finishHead()
            } else if head.count >= PageRequest.longestHead {
                end = .bad
            }
        }
        return end ?? .incomplete
    }

    /// - Returns: nil if another response follows.
    private mutating func finishHead() -> Progress? {
        defer { head.removeAll(keepingCapacity: true) }
        let line = head.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "))
        guard words.count >= 2, words[0].starts(with: Array("HTTP/1.".utf8)), words[1].count == 3,
            let status = Int(foreign: words[1]), status >= 100
        else { return .bad }
        guard status < 200 else { return .status(status) }
        interim += 1
        return interim > Self.mostInterim ? .bad : nil
    }
}
