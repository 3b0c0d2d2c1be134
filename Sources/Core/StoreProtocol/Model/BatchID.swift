package import PushModel
package import RedisProtocol

/// A batch's id, "NN.L.x": the shard, the lane, and a unique part.
package struct BatchID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var description: String { String(decoding: bytes, as: UTF8.self) }

    /// The batch's shard. If the id does not begin with a shard number, the result is -1: no worker serves shard -1.
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

    /// When the batch's pushes were queued; nil if the batch contains retries.
    package var waitsSince: Int64? { isFirstAttempt ? madeAt : nil }

    private var parts: [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    }

    private var isFirstAttempt: Bool { parts.count > 3 && parts[2].first != UInt8(ascii: "r") }
}

extension BatchID: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) { command.append(bytes) }
}

extension BatchID {
    /// When the batch's pushes were queued, in Unix milliseconds of Redis's clock: the time of the split, the due time of delayed
    /// pushes, or the time of the previous attempt's report. Nil if the id does not contain a time.
    package var madeAt: Int64? {
        // Ids of first attempts are NN.L.<seconds in hex and five hex digits of microseconds>.<n>. Ids of delayed batches end
        // with "." and the due time in hex. Ids of retries are NN.L.r<milliseconds>-<n>.<n>.
        let parts = parts
        guard parts.count > 3 else { return nil }
        func text(_ part: Int) -> String { String(decoding: parts[part], as: UTF8.self) }
        if !isFirstAttempt { return Int64(foreign: text(2).dropFirst().prefix { $0 != "-" }) }
        if parts.count > 4 { return Int64(foreign: text(4), radix: 16) }
        guard let moment = Int64(unbounded: text(2), radix: 16), moment > 0 else { return nil }
        return Int64(foreign: (moment >> 20) * 1000 + (moment & 0xFFFFF) / 1000)
    }
}
