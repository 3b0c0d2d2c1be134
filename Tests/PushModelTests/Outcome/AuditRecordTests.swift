import RandomTesting
import Testing

@testable import PushModel

struct AuditRecordTests {
    private static func tokens(_ count: Int) -> [ArraySlice<UInt8>] {
        (0..<count).map { [UInt8](repeating: UInt8($0), count: 32)[...] }
    }

    private static func ids(_ job: String, _ tokens: [ArraySlice<UInt8>]) -> [UInt64] {
        tokens.map { $0.withUnsafeBytes { PushID.Job(id: job).pushID(token: $0) }.mark }
    }

    @Test func `decodes what was encoded and finds a push by its id`() throws {
        var record = AuditRecord()
        let tokens = Self.tokens(3)
        record.append(.failed, job: "a", reason: "BadTopic", status: 400, tokens: tokens)
        record.append(.expired, job: "b", tokens: Self.tokens(1))
        let groups = try AuditRecord.groups(record.bytes + record.bytes)
        #expect(groups.count == 4 && Array(groups[..<2]) == Array(groups[2...]))
        #expect(groups[0].outcome == .failed && groups[0].job == "a" && groups[0].reason == "BadTopic")
        #expect(groups[0].status == 400 && groups[0].marks == Self.ids("a", tokens))
        #expect(groups[1].marks == Self.ids("b", Self.tokens(1)))
    }

    @Test func `accepts the marks of delivered pushes unchanged`() throws {
        var builder = ResultsBuilder()
        builder.marksDelivered = true
        let tokens = Self.tokens(5)
        Array("job".utf8).withUnsafeBytes { builder.beginDelivered(jobID: $0, receipts: .failures) }
        for token in tokens { token.withUnsafeBytes { builder.append(token: $0) } }
        Array("job".utf8).withUnsafeBytes { builder.beginDelivered(jobID: $0, receipts: .all) }
        tokens[0].withUnsafeBytes { builder.append(token: $0) }
        let finished = builder.finish()
        let bytes = try #require(finished)
        let entry = try WorkerReport(decoding: bytes)
        #expect(entry.items.map(\.count) == [5, 1] && entry.items[1].marks.isEmpty)
        var record = AuditRecord()
        record.append(.delivered, job: "job", marks: entry.bytes[entry.items[0].marks])
        #expect(try AuditRecord.groups(record.bytes)[0].marks == Self.ids("job", tokens))
    }

    @Test func `refuses truncated or changed records and never traps`() throws {
        var record = AuditRecord()
        record.append(.retry, job: "job", reason: "Busy", status: 503, tokens: Self.tokens(4))
        let bytes = record.bytes
        for length in 1..<bytes.count {
            #expect(throws: CodecError.self) { try AuditRecord.groups(Array(bytes[..<length])) }
        }
        var random = SplitMix(seed: 3)
        for _ in 0..<5000 {
            var bytes = bytes
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            _ = try? AuditRecord.groups(bytes)
        }
    }

    @Test func `an id is read as it was written`() {
        let id = Array("token".utf8).withUnsafeBytes { PushID.Job(id: "job").pushID(token: $0) }
        #expect(PushID(text: id.description) == id && PushID(text: id.description.uppercased()) == id)
        for text in ["", "x", id.description + "0", String(id.description.dropLast()), "-----"] {
            #expect(PushID(text: text) == nil, "\(text)")
        }
    }
}
