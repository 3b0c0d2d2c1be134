import FarmHarness
import Foundation
import PushModel

/// Counts the pushes at the gateway. Reads the gateway's ledger step by step.
final class DrillCount {
    struct Step {
        var pushes = 0
        var lost = 0
        var duplicates = 0
        /// The longest time without a push in any one shard, in milliseconds.
        var gap = 0.0
    }

    private let file: FileHandle
    private var rest = Data()
    /// How often the gateway accepted each token, by token number.
    private var accepted: [UInt64: Int] = [:]
    /// The time of the last push of each shard.
    private var last: [Int: Int64] = [:]
    private var arrivals: [(shard: Int, microseconds: Int64)] = []

    init(_ ledger: String) throws {
        guard let file = FileHandle(forReadingAtPath: ledger) else {
            throw Overdue(description: "no ledger \(ledger)")
        }
        self.file = file
    }

    /// - Parameter numbers: the numbers of the tokens that were pushed in the step.
    func step(_ numbers: Range<UInt64>) throws -> Step {
        try read()
        var step = Step(pushes: numbers.count)
        for number in numbers {
            let times = accepted.removeValue(forKey: number) ?? 0
            if times == 0 { step.lost += 1 }
            if times > 1 { step.duplicates += times - 1 }
        }
        step.gap = gap()
        arrivals = []
        return step
    }

    /// The longest time between two pushes of a shard, counted from the shard's last push of the previous step.
    private func gap() -> Double {
        var longest: Int64 = 0
        for arrival in arrivals.sorted(by: { $0.microseconds < $1.microseconds }) {
            if let before = last[arrival.shard] { longest = max(longest, arrival.microseconds - before) }
            last[arrival.shard] = arrival.microseconds
        }
        return Double(longest) / 1_000
    }

    private func read() throws {
        while let data = try file.read(upToCount: 16 << 20), !data.isEmpty {
            rest += data
            let length = rest.withUnsafeBytes { bytes in
                var start = 0
                while let end = LedgerLine.find("\n", in: bytes, from: start) {
                    note(LedgerLine(UnsafeRawBufferPointer(rebasing: bytes[start..<end])))
                    start = end + 1
                }
                return start
            }
            rest.removeFirst(length)
        }
    }

    private func note(_ line: LedgerLine) {
        guard line.number("\"status\":") == 200, let time = line.number("\"time_us\":"),
            let token = line.token
        else { return }
        accepted[DrillTokens.number(token), default: 0] += 1
        arrivals.append((ShardHash.shard(of: DrillTokens.bytes(token), shards: 64), time))
    }
}

/// A line of the ledger. The line is parsed only partly, because there are millions of lines.
private struct LedgerLine {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    static func find(_ word: StaticString, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        let (first, length) = (word.utf8Start.pointee, word.utf8CodeUnitCount)
        var place = start
        while place + length <= bytes.count,
            let found = memchr(base + place, Int32(first), bytes.count - place - length + 1)
        {
            place = UnsafeRawPointer(found) - base
            if memcmp(base + place, word.utf8Start, length) == 0 { return place }
            place += 1
        }
        return nil
    }

    func number(_ key: StaticString) -> Int64? {
        guard let place = Self.find(key, in: bytes, from: 0) else { return nil }
        var number: Int64 = 0
        for byte in bytes[(place + key.utf8CodeUnitCount)...] {
            guard byte >= 0x30, byte <= 0x39 else { break }
            number = number * 10 + Int64(byte - 0x30)
        }
        return number
    }

    /// The token as 64 hexadecimal digits.
    var token: UnsafeRawBufferPointer? {
        let key: StaticString = "\"token\":\""
        guard let place = Self.find(key, in: bytes, from: 0) else { return nil }
        let start = place + key.utf8CodeUnitCount
        guard start + 64 <= bytes.count else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + 64])
    }
}
