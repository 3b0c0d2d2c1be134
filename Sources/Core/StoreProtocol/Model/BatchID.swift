package import PushModel
package import RedisProtocol

/// A batch's id, "NN.L.x": its shard, its lane, something unique.
package struct BatchID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var description: String { String(decoding: bytes, as: UTF8.self) }

    /// -1, which no worker owns, if it names none.
    package var shard: Int {
        let digits = bytes.prefix { $0 != UInt8(ascii: ".") }
        guard (1...4).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return -1
        }
        return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }

    package var lane: Lane? {
        guard let dot = bytes.firstIndex(of: UInt8(ascii: ".")), dot + 1 < bytes.count else { return nil }
        return Lane(letter: bytes[dot + 1])
    }

    /// When its pushes began to wait, of first attempts only; nil of one that comes back after an attempt.
    package var waitsSince: Int64? { isFirstAttempt ? madeAt : nil }

    private var parts: [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    }

    private var isFirstAttempt: Bool { parts.count > 3 && parts[2].first != UInt8(ascii: "r") }
}

extension BatchID: CommandWord {
    package func write(to command: inout RESPCommand, _ keys: Keys) { command.append(bytes) }
}

extension BatchID {
    /// When its pushes began to wait, in Unix milliseconds of Redis's clock: they were split, were due if they had been put off, or the
    /// try before was reported. Nil if the id does not say.
    package var madeAt: Int64? {
        // NN.L.<seconds in hex and five hex digits of microseconds>.<n>, behind which is the time when it was due, in hex, if it
        // was put off; or NN.L.r<milliseconds>-<n>.<n>.
        let parts = parts
        guard parts.count > 3 else { return nil }
        func text(_ part: Int) -> String { String(decoding: parts[part], as: UTF8.self) }
        if !isFirstAttempt { return Int64(foreign: text(2).dropFirst().prefix { $0 != "-" }) }
        if parts.count > 4 { return Int64(foreign: text(4), radix: 16) }
        guard let moment = Int64(unbounded: text(2), radix: 16), moment > 0 else { return nil }
        return Int64(foreign: (moment >> 20) * 1000 + (moment & 0xFFFFF) / 1000)
    }
}
