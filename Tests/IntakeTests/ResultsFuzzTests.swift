import EventLoop
import PushModel
import RandomTesting
import RedisProtocol
import StoreProtocol
import Testing

@testable import Coordinator
@testable import Intake

/// Damaged entries of the results stream among valid entries.
/// The results consumer settles the readable part of each damaged entry.
/// `fsck` names an entry that cannot be settled, and a repair settles it. A damaged entry never delays other entries.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ResultsFuzzTests {
    private static func damage(_ bytes: [UInt8], _ random: inout SplitMix) -> [UInt8] {
        var bytes = bytes
        switch random.int(in: 0...5) {
        case 0: bytes.removeLast(random.int(in: 1...bytes.count))
        case 1: bytes += random.bytes(random.int(in: 1...20))
        case 2: bytes = random.bytes(random.int(in: 0...60))
        case 3: bytes[0] = random.bytes(1)[0]
        default:
            for _ in 0..<random.int(in: 1...4) {
                bytes[random.int(in: 0...bytes.count - 1)] = random.bytes(1)[0]
            }
        }
        return bytes
    }

    private static let oddFields = [
        ["foo", "bar"], ["p", "1-2"], ["k", "U", "b", "x", "p", "1-2"], ["k", "U", "b", "", "p", "2-1,x"],
        ["p", "0-0", "b", "y", "k", "P"], ["l", "h", "q", "?"],
        ["k", "P", "b", "z", "p", "1-99999999999999999999"],
    ]

    @Test(arguments: [11, 12, 13, 14] as [UInt64])
    func `a damaged entry does not stop the settlement of others`(
        seed: UInt64
    ) async throws {
        try await IntakeFixture.run { farm in
            var random = SplitMix(seed: seed)
            for number in 0..<40 {
                let tokens = (0..<12).map { JobText.token(number * 1000 + $0) }
                var job = JobText(id: "job-\(number)", tokens: tokens)
                job.fields =
                    #""max_attempts":2,"receipts":"\#(number.isMultiple(of: 2) ? "all" : "failures")","#
                try await farm.submit(job)
            }
            farm.intake.start()
            try await farm.until("all jobs are split") {
                let depths = try await farm.perform(ReadDepths(shards: IntakeFixture.shards))
                return depths.inbox == 0 && depths.taken == 0
            }
            var answers = random
            try await farm.work { _, _, _ in
                switch answers.int(in: 0...9) {
                case 0: .refuse(reason: "Unregistered", isInvalidToken: true)
                case 1: .refuse(reason: "PayloadTooLarge", isInvalidToken: false)
                case 2: .fail(.server)
                default: .accept
                }
            }
            let damaged = try await farm.damageResults { Self.damage($0, &random) }
            for fields in Self.oddFields { try await farm.addResult(fields) }
            farm.consumer.start()
            try await farm.until("all that can be settled is settled") {
                let faults = try await farm.perform(FindDamage(shards: IntakeFixture.shards))
                return try await farm.perform(ReadDepths(shards: IntakeFixture.shards)).results
                    == faults.unsettled
            }
            let faults = try await farm.perform(FindDamage(shards: IntakeFixture.shards))
            #expect(faults.unsettled > 0 && faults.unsettled <= damaged + Self.oddFields.count)
            #expect(faults.wrongTypes.isEmpty)
            // The audit must name as many unsettled entries as `FindDamage` has counted.
            let named = try await farm.perform(CheckAccounting(shards: IntakeFixture.shards))
            let unsettled = named.filter { $0.hasPrefix("results entry ") }
            #expect(unsettled.count == faults.unsettled, "\(named)")
            try await farm.repair()
            #expect(try await farm.perform(CheckAccounting(shards: IntakeFixture.shards)) == [])
            #expect(try await farm.perform(ReadDepths(shards: IntakeFixture.shards)).results == 0)
            try await farm.until("every push has an outcome") {
                try await farm.promoteAll()
                try await farm.work()
                let load = try await farm.perform(ReadPushCounts())
                return load.open == 0
            }
            #expect(try await farm.perform(CheckAccounting(shards: IntakeFixture.shards)) == [])
            for number in 0..<40 {
                let record = try await farm.jobRecord("job-\(number)")
                let ended = record.delivered + record.failed + record.expired + record.cancelled
                #expect(record.state == .finished && ended == record.accepted)
            }
        }
    }
}

extension IntakeFixture {
    private var stream: String { String(decoding: fixture.keys.results, as: UTF8.self) }

    /// Replaces every third entry by a changed copy at the end of the stream. Returns the number of copies.
    fileprivate func damageResults(_ change: ([UInt8]) -> [UInt8]) async throws -> Int {
        let entries = try await run("XRANGE", stream, "-", "+").array ?? []
        var damaged = 0
        for (index, entry) in entries.enumerated() where index.isMultiple(of: 3) {
            guard let parts = entry.array, let id = parts[0].text, let words = parts[1].array,
                let bytes = words[1].bytes
            else { continue }
            try await run("XDEL", stream, id)
            var command = RESPCommand("XADD", stream, "*", "r")
            command.append(change(bytes))
            for word in words.dropFirst(2) { command.append(word.bytes ?? []) }
            _ = try await redis.call(command)
            damaged += 1
        }
        return damaged
    }

    fileprivate func addResult(_ fields: [String]) async throws {
        var command = RESPCommand("XADD", stream, "*")
        for field in fields { command.append(field) }
        _ = try await redis.call(command)
    }

    /// Repairs like `pushfarm fsck --repair`.
    fileprivate func repair() async throws {
        for _ in 0..<5 {
            let faults = try await perform(CheckAccounting(shards: Self.shards))
            if faults.isEmpty { return }
            for id in Set(faults.compactMap(Self.batch)) {
                _ = try await perform(Repair(.batch(id), shards: Self.shards))
            }
            _ = try await perform(Repair(.jobRecords(nil), shards: Self.shards))
        }
    }

    private static func batch(_ fault: String) -> String? {
        let words = fault.split(separator: " ")
        return words[0] == "batch" ? String(words[1]) : nil
    }

    /// Makes all delayed pushes due.
    fileprivate func promoteAll() async throws {
        let delayed = String(decoding: fixture.keys.delayed, as: UTF8.self)
        for id in try await run("ZRANGE", delayed, "0", "-1").array ?? [] {
            try await run("ZADD", delayed, "XX", "1", id.text ?? "")
        }
        _ = try await perform(PromoteDue(limit: 1000))
    }
}
