import RandomTesting
import Testing

@testable import PushModel

struct WorkerReportTests {
    static let recorded = bytes(
        hex: """
            01
            44 02 6a31 0003 00
            44 02 6a31 0001 01 02 aabb
            46 02 6a31 0002 0c 556e72656769737465726564 00 019a 01 00 00
            01 cc 0000018bcfe56800 01 dd 0000000000000000
            45 02 6a32 0001 03 353033 01 01 ee
            52 02 6a32 0001 02 01f7 12 53657276696365556e617661696c61626c65 000003e8 0000002b
            0021 01 08 0a 00 00 00
            0000000000000000 0000000000000000 0000000000000000 00 00 00 00000002 7b7d 01 ff
            """)

    static func writeRecorded(_ builder: inout ResultsBuilder) {
        func with(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void) { bytes.withUnsafeBytes(body) }
        let first = Array("j1".utf8)
        let second = Array("j2".utf8)
        with(first) { builder.beginDelivered(jobID: $0, receipts: .failures) }
        for _ in 0..<3 { with([0x99]) { builder.append(token: $0) } }
        with(first) { builder.beginDelivered(jobID: $0, receipts: .none) }
        with(first) { builder.beginDelivered(jobID: $0, receipts: .all) }
        with([0xaa, 0xbb]) { builder.append(token: $0) }
        with(first) {
            builder.beginFailed(
                jobID: $0, reason: "Unregistered", status: 410, isInvalidToken: true, receipts: .failures)
        }
        with([0xcc]) { builder.append(token: $0, timestamp: 1_700_000_000_000) }
        with([0xdd]) { builder.append(token: $0) }
        with(second) { builder.beginExpired(jobID: $0, cause: "503", receipts: .all) }
        with([0xee]) { builder.append(token: $0) }
        let head = JobPartHead(jobID: "j2", options: PushOptions(), attempt: 1)
        with(Array("{}".utf8)) {
            builder.beginRetry(
                head, payload: $0, why: .server, status: 503, reason: "ServiceUnavailable",
                retryAfterMilliseconds: 1000)
        }
        with([0xff]) { builder.append(token: $0) }
    }

    @Test func `writes the recorded bytes`() {
        var builder = ResultsBuilder()
        Self.writeRecorded(&builder)
        #expect(builder.count == 8 && builder.byteCount == Self.recorded.count)
        #expect(builder.finish().map(hex) == hex(Self.recorded))
        #expect(builder.isEmpty && builder.finish() == nil)
        Self.writeRecorded(&builder)
        #expect(builder.finish() == Self.recorded)
    }

    @Test func `reads the recorded bytes`() throws {
        let entry = try WorkerReport(decoding: Self.recorded)
        #expect(entry.items.map(\.count) == [3, 1, 2, 1, 1])
        #expect(entry.items.map { entry.jobID(of: $0) } == ["j1", "j1", "j1", "j2", "j2"])
        guard case .delivered(let unnamed) = entry.items[0].result,
            case .delivered(let named) = entry.items[1].result,
            case .failed(let failure) = entry.items[2].result,
            case .expired(let expiry) = entry.items[3].result,
            case .retry(let retry) = entry.items[4].result
        else { throw CodecError(fault: .value(.kind), offset: 0) }
        func tokens(_ range: Range<Int>) -> [String] {
            entry.tokens[range].map { hex(entry.bytes[$0.range]) }
        }
        #expect(unnamed.isEmpty && tokens(named) == ["aabb"])
        #expect(
            entry.text(failure.reason) == "Unregistered" && failure.cause.isEmpty && failure.status == 410)
        #expect(failure.isInvalidToken && !failure.isUnknown && failure.receipts == .failures)
        #expect(tokens(failure.tokens) == ["cc", "dd"])
        #expect(entry.tokens[failure.tokens].map(\.timestamp) == [1_700_000_000_000, 0])
        #expect(
            entry.text(expiry.cause) == "503" && expiry.receipts == .all && tokens(expiry.tokens) == ["ee"])
        #expect(retry.why == .server && retry.status == 503 && retry.retryAfterMilliseconds == 1000)
        #expect(entry.text(retry.reason) == "ServiceUnavailable" && retry.jobPart.attempt == 1)
        #expect(entry.pushes[retry.jobPart.pushes].map { hex(entry.bytes[$0.token]) } == ["ff"])
        #expect(entry.pushes[retry.jobPart.pushes].map { entry.text($0.payload) } == ["{}"])
    }

    @Test func `a job part to retry is copied into a body unchanged`() throws {
        let entry = try WorkerReport(decoding: Self.recorded)
        guard case .retry(let retry) = entry.items[4].result else {
            throw CodecError(fault: .value(.kind), offset: 0)
        }
        var builder = BatchBuilder()
        entry.bytes.withUnsafeBytes { bytes in
            builder.append(
                jobPart: UnsafeRawBufferPointer(rebasing: bytes[retry.jobPart.encoded]), tokens: 1,
                jobID: Array(bytes[retry.jobPart.jobID]), isAtMostOnce: false)
        }
        let batch = try Batch(decoding: builder.finish() ?? [])
        #expect(batch.jobID(of: 0) == "j2" && batch.jobParts[0].attempt == 1)
        #expect(hex(batch.bytes[batch.pushes[0].token]) == "ff")
    }

    @Test func `cuts long reasons between two characters`() throws {
        var builder = ResultsBuilder()
        [UInt8]([0x6a]).withUnsafeBytes {
            builder.beginFailed(
                jobID: $0, reason: String(repeating: "ü", count: 200),
                cause: String(repeating: "x", count: 300),
                receipts: .none)
        }
        [UInt8]([1]).withUnsafeBytes { builder.append(token: $0) }
        let entry = try WorkerReport(decoding: builder.finish() ?? [])
        guard case .failed(let failure) = entry.items[0].result else {
            throw CodecError(fault: .value(.kind), offset: 0)
        }
        #expect(entry.text(failure.reason) == String(repeating: "ü", count: 127))
        #expect(failure.cause.count == 255)
    }

    @Test func `refuses every truncation that cuts an item`() {
        let whole = Set([1, 8, 18, 63, 76])
        for length in 0..<Self.recorded.count {
            let cut = Array(Self.recorded[..<length])
            if whole.contains(length) {
                #expect(throws: Never.self) { try WorkerReport(decoding: cut) }
            } else {
                #expect(throws: CodecError.self, "\(length)") { try WorkerReport(decoding: cut) }
            }
        }
    }

    @Test func `damaged entries are read or refused and never trap`() {
        var random = SplitMix(seed: 3)
        var refused = 0
        for _ in 0..<20_000 {
            var bytes = Self.recorded
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8(
                    truncatingIfNeeded: random.next())
            }
            do {
                let entry = try WorkerReport(decoding: bytes)
                for token in entry.tokens { #expect(token.range.upperBound <= bytes.count) }
                for push in entry.pushes { #expect(push.payload.upperBound <= bytes.count) }
            } catch {
                refused += 1
            }
        }
        #expect(refused > 5000)
    }

    @Test func `decodes what was encoded for any mix`() throws {
        var random = SplitMix(seed: 4)
        for _ in 0..<300 {
            var builder = ResultsBuilder()
            var expected: [(kind: Int, tokens: [[UInt8]])] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let kind = Int.random(in: 0...4, using: &random)
                let job = random.bytes(2).map { $0 & 0x7f }
                let options = BatchFuzzTests.options(&random)
                job.withUnsafeBytes { job in
                    switch kind {
                    case 0: builder.beginDelivered(jobID: job, receipts: .all)
                    case 1: builder.beginFailed(jobID: job, reason: "r", cause: "c", receipts: .all)
                    case 2: builder.beginExpired(jobID: job, receipts: .none)
                    default:
                        let head = JobPartHead(
                            jobID: String(decoding: job, as: UTF8.self), options: options, attempt: 3,
                            cause: "c")
                        if kind == 3 {
                            builder.beginRetry(head, payload: job, why: .throttled)
                        } else {
                            builder.beginDeadLetter(head, payload: job, reason: "BadTopic", status: 400)
                        }
                    }
                }
                let tokens = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                    random.bytes(Int.random(in: 1...255, using: &random))
                }
                for token in tokens { token.withUnsafeBytes { builder.append(token: $0) } }
                if !tokens.isEmpty { expected.append((kind, tokens)) }
            }
            guard let bytes = builder.finish() else { continue }
            let entry = try WorkerReport(decoding: bytes)
            let found = entry.items.map { item -> (kind: Int, tokens: [[UInt8]]) in
                func named(_ range: Range<Int>) -> [[UInt8]] {
                    entry.tokens[range].map { Array(bytes[$0.range]) }
                }
                switch item.result {
                case .delivered(let tokens): return (0, named(tokens))
                case .failed(let failure): return (1, named(failure.tokens))
                case .expired(let expiry): return (2, named(expiry.tokens))
                case .retry(let retry):
                    return (3, entry.pushes[retry.jobPart.pushes].map { Array(bytes[$0.token]) })
                case .letter(let letter):
                    return (4, entry.pushes[letter.jobPart.pushes].map { Array(bytes[$0.token]) })
                }
            }
            #expect(
                found.map(\.kind) == expected.map(\.kind) && found.map(\.tokens) == expected.map(\.tokens))
        }
    }
}
