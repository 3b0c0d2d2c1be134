import PushModel
import Testing

@testable import pushfarm

struct JobDraftTests {
    private func token(_ number: Int) -> Substring {
        let hex = String(number, radix: 16)
        return Substring(String(repeating: "0", count: 64 - hex.count) + hex)
    }

    @Test func `the output is a valid job`() throws {
        let draft = JobDraft(
            id: "a\"b", recipients: [token(1), token(2)], payload: #"{ "aps" : {"alert":"ü"} }"#,
            fields: [("ttl", .number(60)), ("lane", .string("bulk"))])
        let job = try JobParser.parse(Array(draft.text.utf8), app: "demo", topic: "a.b", now: 1_800_000_000)
        #expect(job.id == "a\"b")
        #expect(job.accepted == 2)
        #expect(job.lane == .bulk)
        #expect(job.options.expiration == 1_800_000_060)
        let payload = try #require(job.payload)
        #expect(String(decoding: job.raw[payload], as: UTF8.self) == #"{ "aps" : {"alert":"ü"} }"#)
    }

    @Test func `a token from a file cannot break out of its string`() throws {
        let draft = JobDraft(id: "x", recipients: [#"00","pushes":[]"#, token(1)], payload: "{}")
        let job = try JobParser.parse(Array(draft.text.utf8), app: "demo", topic: "a.b", now: 0)
        #expect(job.accepted == 1)
        #expect(job.malformed.count == 1)
    }

    @Test func `many tokens become numbered jobs`() {
        let draft = JobDraft(id: "news", recipients: (0..<25).map(token), payload: "{}")
        let parts = draft.split(limit: 10)
        #expect(parts.map(\.id) == ["news.1", "news.2", "news.3"])
        #expect(parts.flatMap(\.recipients) == draft.recipients)
        #expect(draft.split(limit: 25).map(\.id) == ["news"])
    }

    @Test func `a job to users names users in place of tokens`() throws {
        let draft = JobDraft(id: "x", kind: .users, recipients: ["u-7", "u\"8"], payload: "{}")
        let job = try JobParser.parse(Array(draft.text.utf8), app: "demo", topic: "a.b", now: 0)
        #expect(job.recipients?.kind == .users && job.recipients?.names == ["u-7", "u\"8"])
        #expect(draft.split(limit: 1).map(\.kind) == [.users, .users])
    }

    @Test func `new ids differ and are valid`() {
        let ids = Set((0..<100).map { _ in JobDraft.freshID() })
        #expect(ids.count == 100)
        #expect(ids.allSatisfy { $0.utf8.count <= 64 })
    }
}
