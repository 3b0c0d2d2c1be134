import BatchTesting
import FarmPolicy
import PushModel
import RandomTesting
import StoreProtocol
import Testing

@testable import Settling

struct SettlePlanTests {
    private let id = EntryID(Array("1-0".utf8))
    private static let now: Int64 = 1_780_000_000
    private static func token(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    private func settle(
        lane: Lane = .high, policy: RetryPolicy = RetryPolicy(), _ write: (inout ResultsBuilder) -> Void
    ) throws -> Settlement {
        var builder = ResultsBuilder()
        write(&builder)
        var plan = SettlePlan(shards: 64, policy: policy)
        var random = SplitMix(seed: 1)
        let finished = builder.finish()
        let entry = try #require(finished)
        return try plan.settlement(of: id, report: entry, lane: lane, now: Self.now, using: &random)
    }

    private func kinds(_ settlement: Settlement) -> [FarmEvent.Kind] { settlement.events.map(\.kind) }

    private func job(_ id: String, _ body: (UnsafeRawBufferPointer) -> Void) {
        Array(id.utf8).withUnsafeBytes(body)
    }

    private func retry(
        _ builder: inout ResultsBuilder, _ why: RetryCause, job: String = "a", attempt: UInt8 = 1,
        tokens: ClosedRange<UInt8>,
        options: PushOptions = PushOptions(), retryAfter: UInt32 = 0
    ) {
        let head = JobPartHead(jobID: job, options: options, attempt: attempt, cause: "ServiceUnavailable")
        Array(#"{"aps":{}}"#.utf8).withUnsafeBytes {
            builder.beginRetry(
                head, payload: $0, why: why, status: 503, reason: "ServiceUnavailable",
                retryAfterMilliseconds: retryAfter)
        }
        for number in tokens { Self.token(number).withUnsafeBytes { builder.append(token: $0) } }
    }

    @Test(arguments: [(Receipts.failures, 0), (.all, 3), (.none, 0)])
    func `delivered pushes are counted and reported when all receipts are requested`(
        receipts: Receipts, events: Int
    )
        throws
    {
        let settlement = try settle { builder in
            job("a") { builder.beginDelivered(jobID: $0, receipts: receipts) }
            for number in 1...3 { Self.token(UInt8(number)).withUnsafeBytes { builder.append(token: $0) } }
        }
        #expect(settlement.jobs.map(\.id) == ["a"] && settlement.jobs[0].delivered == 3)
        #expect(kinds(settlement) == Array(repeating: .pushDelivered, count: events))
        #expect(settlement.retries.isEmpty && settlement.invalidTokens.isEmpty)
    }

    @Test(arguments: [(Receipts.failures, 1), (.all, 1), (.none, 0)])
    func `an unregistered token is reported with any receipts`(receipts: Receipts, failures: Int) throws {
        let settlement = try settle { builder in
            job("a") {
                builder.beginFailed(
                    jobID: $0, reason: "Unregistered", status: 410, isInvalidToken: true, receipts: receipts)
            }
            Self.token(9).withUnsafeBytes { builder.append(token: $0, timestamp: 5000) }
        }
        #expect(settlement.jobs[0].failed == 1 && settlement.jobs[0].reasons == ["Unregistered": 1])
        #expect(kinds(settlement) == Array(repeating: .pushFailed, count: failures))
        #expect(settlement.invalidTokens.map(\.event.kind) == [.tokenInvalid])
        #expect(settlement.invalidTokens.map(\.record) == [nil], "it belongs to no scope")
    }

    @Test(arguments: [(now - 1, now - 1), (now + 1, now), (4_102_444_800, now)] as [(Int64, Int64)])
    func `a token cannot become unregistered in the future`(died: Int64, since: Int64) throws {
        let settlement = try settle { builder in
            job("a") {
                builder.beginFailed(
                    jobID: $0, reason: "Unregistered", status: 410, isInvalidToken: true,
                    scope: "production x",
                    receipts: .none)
            }
            Self.token(9).withUnsafeBytes { builder.append(token: $0, timestamp: died * 1000) }
        }
        #expect(settlement.invalidTokens.map { $0.record?.time } == [UInt32(since)])
    }

    @Test func `responses to a screening and its bad tokens are counted separately`() throws {
        let settlement = try settle { builder in
            for name in ["screen-ab.7", "a"] {
                job(name) { builder.beginDelivered(jobID: $0, receipts: .failures) }
                for number in 1...3 {
                    Self.token(UInt8(number)).withUnsafeBytes { builder.append(token: $0) }
                }
                job(name) {
                    builder.beginFailed(
                        jobID: $0, reason: "BadDeviceToken", status: 400, isInvalidToken: true,
                        scope: "production x",
                        receipts: .none)
                }
                Self.token(9).withUnsafeBytes { builder.append(token: $0) }
            }
        }
        #expect(settlement.responses == 4 && settlement.screened == 4)
        #expect(settlement.invalidTokens.map(\.isScreened) == [true, false])
    }

    @Test func `items of one job in a row are one change of its job record`() throws {
        let settlement = try settle { builder in
            for name in ["a", "a", "b", "a"] {
                job(name) { builder.beginDelivered(jobID: $0, receipts: .failures) }
                Self.token(1).withUnsafeBytes { builder.append(token: $0) }
            }
            job("a") { builder.beginExpired(jobID: $0, cause: "Shutdown", receipts: .failures) }
            Self.token(2).withUnsafeBytes { builder.append(token: $0) }
        }
        #expect(settlement.jobs.map(\.id) == ["a", "b", "a"])
        #expect(settlement.jobs.map(\.delivered) == [2, 1, 1])
        #expect(settlement.jobs.map(\.expired) == [0, 0, 1])
        #expect(kinds(settlement) == [.pushExpired])
    }

    @Test func `pushes with equal delay share a batch in their lane and shard`() throws {
        let one = SplitMix.tokensOfOneShard(3)
        let settlement = try settle(lane: .bulk) { builder in
            for (number, token) in one.enumerated() {
                let head = JobPartHead(jobID: "job-\(number)", options: PushOptions(), attempt: 1, cause: "x")
                Array("{}".utf8).withUnsafeBytes { builder.beginRetry(head, payload: $0, why: .server) }
                token.withUnsafeBytes { builder.append(token: $0) }
            }
        }
        #expect(settlement.retries.count == 1)
        let retry = try #require(settlement.retries.first)
        #expect(retry.lane == .bulk && retry.tokens == 3)
        #expect(retry.shard == ShardHash.shard(of: one[0], shards: 64))
        #expect((.milliseconds(500)...(.seconds(1))).contains(retry.delay))
        let batch = try Batch(decoding: retry.body)
        #expect(batch.jobParts.map(\.attempt) == [1, 1, 1])
        #expect(batch.pushes.map { Array(batch.bytes[$0.token]) } == one)
        #expect(settlement.jobs.map(\.delayed) == [1, 1, 1])
        #expect(settlement.jobs.map(\.maybeDuplicated) == [0, 0, 0])
    }

    /// The reason, cause, attempts and tokens of each dead letter.
    private func letters(_ settlement: Settlement) throws -> [String] {
        try settlement.letters.map { letter in
            let batch = try Batch(decoding: letter.body)
            #expect(batch.jobParts.count == 1 && batch.jobID(of: 0) == letter.job)
            #expect(letter.pushes == batch.pushes.count)
            let tokens = batch.pushes.map { "\(batch.bytes[$0.token].first ?? 0)" }.joined(separator: " ")
            return "\(letter.job) \(letter.reason) \(letter.status) after \(batch.jobParts[0].attempt) "
                + "\(batch.text(batch.jobParts[0].cause)): \(tokens) \(batch.text(batch.pushes[0].payload))"
        }
    }

    @Test func `a push that fails with a valid token becomes a dead letter per job and reason`() throws {
        let settlement = try settle { builder in
            let head = JobPartHead(jobID: "a", options: PushOptions(), attempt: 1, cause: "Shutdown")
            Array("{}".utf8).withUnsafeBytes {
                builder.beginDeadLetter(head, payload: $0, reason: "PayloadTooLarge", status: 413)
            }
            for number in 1...3 as ClosedRange<UInt8> {
                Self.token(number).withUnsafeBytes { builder.append(token: $0) }
            }
            retry(&builder, .server, job: "b", attempt: 8, tokens: 4...5)
            retry(
                &builder, .unknownOutcome, job: "c", tokens: 6...6,
                options: PushOptions(delivery: .atMostOnce))
            retry(&builder, .server, job: "d", tokens: 7...7)
            job("e") {
                builder.beginFailed(
                    jobID: $0, reason: "Unregistered", status: 410, isInvalidToken: true, receipts: .none)
            }
            Self.token(8).withUnsafeBytes { builder.append(token: $0) }
        }
        #expect(
            try letters(settlement) == [
                "a PayloadTooLarge 413 after 1 Shutdown: 1 2 3 {}",
                #"b exhausted 503 after 8 ServiceUnavailable: 4 5 {"aps":{}}"#,
                #"c unknown 503 after 1 ServiceUnavailable: 6 {"aps":{}}"#,
            ])
        #expect(settlement.jobs.map(\.failed) == [3, 2, 1, 0, 1] && settlement.responses == 4)
        #expect(
            kinds(settlement) == [
                .pushFailed, .pushFailed, .pushFailed, .pushFailed, .pushFailed, .pushFailed,
            ])
        #expect(settlement.audit.isEmpty)
    }

    @Test func `pushes closed with their worker become dead letters with their own payloads`() throws {
        var builder = BatchBuilder()
        for (name, own) in [("a", false), ("b", true)] {
            let head = JobPartHead(jobID: name, options: PushOptions(), attempt: 2, payloadPerPush: own)
            Array((own ? "" : "{}").utf8).withUnsafeBytes { builder.begin(head, payload: $0) }
            for number in 1...3 as ClosedRange<UInt8> {
                Self.token(number).withUnsafeBytes { token in
                    guard own else { return builder.append(token: token) }
                    Array("[\(number)]".utf8).withUnsafeBytes { builder.append(token: token, payload: $0) }
                }
            }
        }
        let finished = builder.finish()
        let body = try #require(finished)
        var plan = SettlePlan(shards: 64, policy: RetryPolicy())
        plan.isAudited = true
        let settlement = try plan.settlement(of: id, closed: .poison, body: body, positions: [1..<3, 4..<5])
        #expect(
            try letters(settlement) == [
                "a poison 0 after 2 worker lost: 2 3 {}", "b poison 0 after 2 worker lost: 2 [2]",
            ])
        #expect(try AuditRecord.groups(settlement.audit).map(\.marks.count) == [2, 1])
    }

    @Test func `pushes with values that were closed with their worker become rendered dead letters`() throws {
        let body = Batches.body([
            Batches.Part(job: "a", count: 2), Batches.Part(job: "b", count: 2, hasTemplate: true),
        ])
        var plan = SettlePlan(shards: 64, policy: RetryPolicy())
        let settlement = try plan.settlement(of: id, closed: .poison, body: body, positions: [1..<4])
        let payloads = try settlement.letters.map { letter in
            let batch = try Batch(decoding: letter.body)
            #expect(letter.body == batch.bytes, "a dead letter has no template")
            return batch.pushes.map { batch.text($0.payload) }
        }
        #expect(payloads == [["{}"], ["{\"n\":2}", "{\"n\":3}"]])
        #expect(settlement.jobs.map(\.failed) == [1, 2])
    }

    @Test func `throttled pushes wait longer than others of their entry`() throws {
        let settlement = try settle { builder in
            retry(&builder, .server, tokens: 1...1)
            retry(&builder, .throttled, tokens: 1...1)
            retry(&builder, .server, attempt: 3, tokens: 1...1)
            retry(&builder, .server, tokens: 1...1, retryAfter: 90_000)
            retry(&builder, .throttled, tokens: 1...1, retryAfter: 120_000)
        }
        let seconds = settlement.retries.map { Int($0.delay / .seconds(1)) }
        #expect(seconds.count == 5)
        #expect(seconds[0] < 1 && (15...30).contains(seconds[1]) && (2...4).contains(seconds[2]))
        #expect((90...91).contains(seconds[3]) && (120...135).contains(seconds[4]))
    }

    @Test func `a retry after an unknown outcome may be a duplicate`() throws {
        let settlement = try settle { retry(&$0, .unknownOutcome, tokens: 1...5) }
        #expect(settlement.jobs[0].delayed == 5 && settlement.jobs[0].maybeDuplicated == 5)
    }

    @Test func `an unknown outcome is not retried when at most once is requested`() throws {
        let settlement = try settle {
            retry(&$0, .unknownOutcome, tokens: 1...2, options: PushOptions(delivery: .atMostOnce))
        }
        #expect(settlement.jobs[0].failed == 2 && settlement.jobs[0].reasons == ["unknown": 2])
        #expect(settlement.jobs[0].maybeDuplicated == 0 && settlement.retries.isEmpty)
    }

    @Test func `a push is exhausted after its last attempt`() throws {
        let options = PushOptions(receipts: .all, maxAttempts: 3)
        let settlement = try settle { retry(&$0, .server, attempt: 3, tokens: 1...2, options: options) }
        #expect(settlement.jobs[0].failed == 2 && settlement.jobs[0].reasons == ["exhausted": 2])
        #expect(kinds(settlement) == [.pushFailed, .pushFailed])
        #expect(settlement.retries.isEmpty)
    }

    @Test(arguments: [Receipts.failures, .none])
    func `a push after its deadline is expired`(receipts: Receipts) throws {
        let options = PushOptions(deadline: Self.now - 1, receipts: receipts)
        let settlement = try settle { retry(&$0, .server, tokens: 1...2, options: options) }
        #expect(settlement.jobs[0].expired == 2 && settlement.retries.isEmpty)
        #expect(settlement.events.count == (receipts == .none ? 0 : 2))
    }

    @Test(arguments: [FarmReason.unknown, .poison])
    func `positions closed with a lost worker fail for that reason`(reason: FarmReason) throws {
        var builder = BatchBuilder()
        for (name, receipts) in [("a", Receipts.failures), ("b", .none)] {
            let options = PushOptions(receipts: receipts, delivery: .atMostOnce)
            Array("{}".utf8).withUnsafeBytes {
                builder.begin(JobPartHead(jobID: name, options: options), payload: $0)
            }
            for number in 1...4 { Self.token(UInt8(number)).withUnsafeBytes { builder.append(token: $0) } }
        }
        let finished = builder.finish()
        let body = try #require(finished)
        var plan = SettlePlan(shards: 64, policy: RetryPolicy())
        let settlement = try plan.settlement(of: id, closed: reason, body: body, positions: [2..<6, 7..<8])
        #expect(settlement.jobs.map(\.id) == ["a", "b"])
        #expect(settlement.jobs.map(\.failed) == [2, 3])
        #expect(settlement.jobs.map(\.reasons) == [[reason.rawValue: 2], [reason.rawValue: 3]])
        #expect(settlement.events.count == 2)
        // A position outside the batch belongs to no push.
        let beyond = try plan.settlement(
            of: id, closed: reason, body: body, positions: [6..<9, 70..<Int.max])
        #expect(beyond.jobs.map(\.failed) == [2] && beyond.unreadable == nil)
    }

    @Test func `closed positions of an unreadable batch fail as unreadable`() throws {
        var builder = BatchBuilder()
        for name in ["a", "b"] {
            Array("{}".utf8).withUnsafeBytes {
                builder.begin(JobPartHead(jobID: name, options: PushOptions()), payload: $0)
            }
            for number in 1...4 { Self.token(UInt8(number)).withUnsafeBytes { builder.append(token: $0) } }
        }
        let finished = builder.finish()
        let body = Array(try #require(finished).dropLast(5))
        var plan = SettlePlan(shards: 64, policy: RetryPolicy())
        let settlement = try plan.settlement(of: id, closed: .unknown, body: body, positions: [2..<6, 7..<9])
        #expect(settlement.jobs.map(\.id) == ["a", "b"])
        #expect(settlement.jobs.map(\.reasons) == [["unreadable": 2], ["unreadable": 3]])
        #expect(settlement.unreadable?.pushes == 5 && settlement.unreadable?.original == body)
        #expect(settlement.letters.isEmpty && settlement.events.isEmpty)
    }

    /// Four items. Returns an entry whose second item has a value of `receipts` that no version of the program writes.
    private func damaged() throws -> [UInt8] {
        var builder = ResultsBuilder()
        job("a") { builder.beginDelivered(jobID: $0, receipts: .failures) }
        for _ in 0..<3 { builder.append(token: UnsafeRawBufferPointer(start: nil, count: 0)) }
        job("b") { builder.beginExpired(jobID: $0, cause: "?!", receipts: .failures) }
        for number in 1...2 { Self.token(UInt8(number)).withUnsafeBytes { builder.append(token: $0) } }
        retry(&builder, .server, job: "c", tokens: 1...1)
        job("d") { builder.beginFailed(jobID: $0, reason: "", status: 400, receipts: .failures) }
        Self.token(3).withUnsafeBytes { builder.append(token: $0) }
        let finished = builder.finish()
        var bytes = try #require(finished)
        let cause = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("?!".utf8)) })
        bytes[cause + 2] = 9
        return bytes
    }

    @Test func `an unreadable item fails alone and the others are settled`() throws {
        let bytes = try damaged()
        #expect(throws: CodecError.self) { try WorkerReport(decoding: bytes) }
        var plan = SettlePlan(shards: 64, policy: RetryPolicy())
        var random = SplitMix(seed: 1)
        let settlement = try plan.settlement(
            of: id, report: bytes, lane: .high, now: Self.now, using: &random)
        #expect(settlement.jobs.map(\.id) == ["a", "c", "d", "b"])
        #expect(settlement.jobs.map(\.delivered) == [3, 0, 0, 0])
        #expect(settlement.jobs.map(\.delayed) == [0, 1, 0, 0] && settlement.retries.count == 1)
        // An empty reason counts as no reason.
        #expect(settlement.jobs.map(\.reasons) == [[:], [:], ["unreadable": 1], ["unreadable": 2]])
        #expect(settlement.unreadable?.pushes == 2 && settlement.unreadable?.original == bytes)
    }

    @Test func `a settlement that Redis refuses is reduced to its counts`() throws {
        let bytes = try damaged()
        let plan = SettlePlan(shards: 64, policy: RetryPolicy())
        let record = ResultsStreamEntry(id: id, content: .report(bytes), lane: .bulk)
        let bare = try plan.countsOnlySettlement(of: record, why: "ERR no")
        #expect(bare.jobs.map(\.id) == ["a", "c", "d", "b"])
        #expect(bare.jobs.map(\.delivered) == [3, 0, 0, 0] && bare.jobs.map(\.failed) == [0, 1, 1, 2])
        #expect(bare.retries.isEmpty && bare.letters.isEmpty && bare.events.isEmpty && bare.responses == 0)
        #expect(bare.unreadable?.pushes == 4 && bare.unreadable?.original == bytes && bare.lane == .bulk)
    }

    @Test func `an unreadable entry is a fault and no settlement`() throws {
        var plan = SettlePlan(shards: 64, policy: RetryPolicy())
        var random = SplitMix(seed: 1)
        #expect(throws: EntryFault.self) {
            try plan.settlement(of: id, report: [9, 9], lane: .high, now: 0, using: &random)
        }
    }

    @Test func `a job record gets a bounded number of short names`() {
        var names = ReasonNames()
        func name(_ reason: String) -> String { names.name(reason) }
        #expect(name("BadDeviceToken") == "BadDeviceToken")
        for bad in ["", "a\nb", "größe", String(repeating: "x", count: 65)] {
            #expect(name(bad) == "Other")
        }
        let many = (0..<1000).map { name("Reason\($0)") }
        #expect(Set(many).count == 128)
        #expect(name("BadDeviceToken") == "BadDeviceToken")
    }

    @Test(arguments: [(shared: true, entries: 64), (shared: false, entries: 2)])
    func `calls stay within the bounds of the script`(shared: Bool, entries: Int) {
        var calls = SettleCalls()
        for number in 0..<128 {
            var settlement = Settlement(entry: EntryID(Array("\(number)-0".utf8)))
            settlement.jobs = (0..<100).map { Settlement.Job(id: shared ? "\($0)" : "\(number) \($0)") }
            calls.append(settlement)
        }
        #expect(calls.calls.allSatisfy { $0.count == entries })
        #expect(calls.calls.joined().map(\.entry) == (0..<128).map { EntryID(Array("\($0)-0".utf8)) })
    }
}

extension SplitMix {
    /// Returns `count` different tokens that all belong to one of 64 shards.
    static func tokensOfOneShard(_ count: Int) -> [[UInt8]] {
        var random = SplitMix(seed: 3)
        var tokens: [[UInt8]] = []
        while tokens.count < count {
            let token = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
            if tokens.isEmpty
                || ShardHash.shard(of: token, shards: 64) == ShardHash.shard(of: tokens[0], shards: 64)
            {
                tokens.append(token)
            }
        }
        return tokens
    }
}
