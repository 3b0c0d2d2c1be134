import BatchTesting
import PushModel
import RandomTesting
import Testing

@testable import Delivery

/// A random walk through all events of a batch, compared with a very simple model.
@Suite struct HeldBatchWalkTests {
    /// The state of a position in the model.
    private enum State: Equatable {
        case open, inFlight
        case responded(UndeliveredResult?)
        case reporting(UndeliveredResult?)
        case reported

        var outcome: UndeliveredResult?? {
            switch self {
            case .responded(let outcome), .reporting(let outcome): .some(outcome)
            default: nil
            }
        }
    }

    private struct Walk {
        var random: SplitMix
        let parts: [Batches.Part]
        let batch: HeldBatch
        var states: [State]
        var granted: Int
        var isReporting = false
        let partOf: [Int]

        init(seed: UInt64) throws {
            var random = SplitMix(seed: seed)
            let parts = (0..<Int.random(in: 1...4, using: &random)).map { index in
                Batches.Part(
                    job: "job\(index % 3)",
                    options: PushOptions(receipts: [.failures, .all, .none].randomElement(using: &random)!),
                    attempt: UInt8.random(in: 0...3, using: &random),
                    count: Int.random(in: 1...9, using: &random),
                    payloadPerPush: random.chance(3), hasTemplate: random.chance(4))
            }
            let count = parts.reduce(0) { $0 + $1.count }
            let granted = Int.random(in: 0...count, using: &random)
            let map = (0..<count).map { _ in random.chance(5) ? UInt8(ascii: "x") : UInt8(ascii: ".") }
            states = map.map { $0 == UInt8(ascii: ".") ? .open : .reported }
            batch = try Batches.held(parts, granted: granted, map: String(decoding: map, as: UTF8.self))
            partOf = parts.indices.flatMap { index in Array(repeating: index, count: parts[index].count) }
            (self.random, self.parts, self.granted) = (random, parts, granted)
        }

        private func positions(_ matches: (State) -> Bool) -> [Int] {
            states.indices.filter { matches(states[$0]) }
        }
        private var inFlight: [Int] { positions { $0 == .inFlight } }
        private var responded: [Int] { positions { if case .responded = $0 { true } else { false } } }
        private var reporting: [Int] { positions { if case .reporting = $0 { true } else { false } } }

        mutating func step() throws {
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3: try send()
            case 4, 5: respond()
            case 6: reopen()
            case 7, 8: try report()
            case 9: grant()
            default: replyToReport()
            }
            try check()
        }

        /// Gives an outcome to every position. Throws if a position cannot get an outcome.
        mutating func finish() throws {
            if isReporting { accept() }
            batch.grant(upTo: states.count)
            granted = states.count
            while batch.hasNext { try send() }
            while !inFlight.isEmpty { respond() }
            while !responded.isEmpty {
                try report()
                accept()
            }
            try check()
            #expect(batch.isComplete && batch.reported == states.count && batch.creditInUse == 0)
        }

        private mutating func send() throws {
            let first = states.indices.first { states[$0] == .open && $0 < granted }
            #expect(batch.hasNext == (first != nil))
            let position = batch.next()
            try #require(position == first, "the lowest open position within the credit goes out")
            if let position { states[position] = .inFlight }
        }

        private mutating func respond() {
            guard let position = inFlight.randomElement(using: &random) else { return }
            let outcome: UndeliveredResult? =
                switch Int.random(in: 0..<8, using: &random) {
                case 0: .tokenFailed(reason: "BadDeviceToken", status: 400, isInvalidToken: true)
                case 1: .deadLetter(reason: "PayloadTooLarge", status: 413)
                case 2: .becameUnknown(cause: "cut")
                case 3: .expired
                case 4: .retry(.server, status: 500, reason: "InternalServerError", retryAfterMilliseconds: 0)
                case 5: .retry(.unknownOutcome, status: 0, reason: "cut", retryAfterMilliseconds: 7)
                default: nil
                }
            if let outcome { batch.record(position, as: outcome) } else { batch.delivered(position) }
            states[position] = .responded(outcome)
        }

        private mutating func reopen() {
            guard let position = inFlight.randomElement(using: &random) else { return }
            batch.reopen(position)
            states[position] = .open
        }

        private mutating func grant() {
            let position = Int.random(in: 0...states.count + 2, using: &random)
            batch.grant(upTo: position)
            granted = max(granted, min(position, states.count))
        }

        private mutating func report() throws {
            let facts = responded.filter { states[$0].outcome!?.isFact ?? true }
            let expected = facts.isEmpty ? responded : facts
            let report = try batch.reportNow()
            guard !isReporting, !expected.isEmpty else {
                #expect(report == nil)
                return
            }
            let made = try #require(report)
            #expect(made.positions == expected)
            #expect(made.lines.sorted() == expected.map(line).sorted())
            #expect(made.isFact == !facts.isEmpty)
            for position in expected { states[position] = .reporting(states[position].outcome!) }
            isReporting = true
        }

        /// The expected line of the entry for a position.
        private func line(_ position: Int) -> String {
            let part = parts[partOf[position]]
            let cause = part.attempt > 0 ? "before" : ""
            let payload = part.payloadPerPush ? "{\"n\":\(position)}" : "{}"
            switch states[position].outcome! {
            case nil: return (part.options.receipts == .all ? "\(position) " : "") + "\(part.job) delivered"
            case .tokenFailed(let reason, let status, let isInvalidToken, _):
                return "\(position) \(part.job) failed \(reason) \(status) cause \(cause)"
                    + (isInvalidToken ? " dead" : "")
            case .suppressed(let why): return "\(position) \(part.job) failed suppressed 0 cause \(why)"
            case .deadLetter(let reason, let status):
                return "\(position) \(part.job) failed \(reason) \(status) cause \(cause) \(payload)"
            case .becameUnknown(let why):
                return "\(position) \(part.job) failed unknown 0 cause \(why) \(payload)"
            case .expired: return "\(position) \(part.job) expired cause \(cause)"
            case .retry(let why, let status, let reason, let after):
                return "\(position) \(part.job) retry \(why) \(status) \(reason) after \(after) tries "
                    + "\(part.attempt + 1) cause \(reason) \(payload)"
            }
        }

        private mutating func accept() {
            batch.reportAccepted()
            for position in reporting { states[position] = .reported }
            isReporting = false
        }

        /// Delivers the reply of Redis to the report in flight.
        private mutating func replyToReport() {
            guard isReporting else { return }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: fail()
            case 1: refuse()
            default: accept()
            }
        }

        private mutating func fail() {
            batch.reportFailed()
            for position in reporting { states[position] = .responded(states[position].outcome!) }
            isReporting = false
        }

        private mutating func refuse() {
            var map = [UInt8](repeating: UInt8(ascii: "."), count: states.count)
            for position in states.indices {
                switch states[position] {
                case .reported: map[position] = UInt8(ascii: "x")
                case .reporting where random.chance(2): map[position] = UInt8(ascii: "x")
                case .responded where random.chance(4): map[position] = UInt8(ascii: "x")
                case .open where random.chance(8): map[position] = UInt8(ascii: "x")
                default: break
                }
            }
            batch.reportFailed()
            batch.reconcile(map, granted: granted)
            for position in reporting { states[position] = .responded(states[position].outcome!) }
            for position in states.indices where map[position] == UInt8(ascii: "x") {
                states[position] = .reported
            }
            isReporting = false
        }

        private func check() throws {
            try #require(batch.granted == granted && batch.isReporting == isReporting)
            try #require(batch.inFlight == inFlight.count && batch.unreported == responded.count)
            try #require(
                batch.reporting == reporting.count && batch.reported == positions { $0 == .reported }.count)
            try #require(batch.creditInUse == states.prefix(granted).count { $0 != .reported })
            try #require(batch.isComplete == states.allSatisfy { $0 != .open && $0 != .inFlight })
        }
    }

    @Test(arguments: 0..<8) func `the batch and the model agree after all events`(block: UInt64) throws {
        for seed in block * 250..<block * 250 + 250 {
            var walk = try Walk(seed: seed)
            for _ in 0..<60 { try walk.step() }
            try walk.finish()
        }
    }
}
