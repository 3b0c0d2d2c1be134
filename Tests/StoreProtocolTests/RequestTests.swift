import Foundation
import PushModel
import RedisProtocol
import Testing

@testable import StoreProtocol

/// Checks the conversion of requests to commands and of replies to values.
@Suite struct RequestTests {
    private let keys = Keys(app: "demo")
    private let token = FenceToken(Array("1:n:host".utf8))

    private func words(_ request: some Request) -> [String] {
        var bytes: [UInt8] = []
        request.command(keys, hash: Array("hash".utf8)).write(into: &bytes)
        // In RESP, a line with the length precedes each argument.
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n").dropFirst()
        return lines.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }

    @Test func `a script call has the hash, the number of keys, the keys and the arguments`() {
        let park = QuarantineBatch(
            token: token, worker: "w1", batch: BatchID(Array("01.h.1".utf8)), delivery: 2, reason: "why")
        #expect(
            words(park) == [
                "EVALSHA", "hash", "1", "{pushfarm:demo}:", "1:n:host", "w1", "01.h.1", "2", "why",
            ])
        #expect(
            words(ReadDepths(shards: 4)) == [
                "EVALSHA_RO", "hash", "2", "{pushfarm:demo}:", "pushfarm:demo", "4",
            ])
    }

    @Test func `a Redis command has the key of the app`() {
        #expect(
            words(ReadPushCounts()) == ["HMGET", "{pushfarm:demo}:load", "open", "settled"])
        #expect(
            words(ReadDeadLetters(.after(.first), count: 3))
                == ["XRANGE", "{pushfarm:demo}:dead_letters", "(0-0", "+", "COUNT", "3"])
        #expect(words(NextJob(timeout: .milliseconds(1500))).last == "1.500")
    }

    @Test func `requests of an uploaded list name its pages`() {
        let key = ListPageKey(version: "v", group: 3, page: 12)
        #expect(
            words(WriteListPage(key, at: 7, [65])) == [
                "SETRANGE", "{pushfarm:demo}:list:v:3:12", "7", "A",
            ])
        #expect(words(ExpireListPage(key, seconds: 60)).last == "60")
        #expect(
            words(RemoveListPages([key, ListPageKey(version: "v", group: 3, page: 13)]))
                == ["DEL", "{pushfarm:demo}:list:v:3:12", "{pushfarm:demo}:list:v:3:13"])
        #expect(words(ReadList(name: "fans")) == ["HGET", "{pushfarm:demo}:lists", "fans"])
    }

    @Test func `nil is sent as an empty argument`() {
        #expect(words(SetRate(nil, by: "me")).suffix(3) == ["rate", "", "me"])
    }

    @Test func `an entry to settle gives its number of arguments with lists`() {
        var settlement = Settlement(entry: EntryID(Array("7-1".utf8)))
        settlement.retries = [.init(shard: 3, lane: .bulk, delay: .seconds(1), tokens: 2, body: [65])]
        settlement.letters = [.init(job: "j", reason: "r", pushes: 1, body: [66])]
        let words = words(Settle([settlement]))
        let start = 4 + 4
        #expect(words[start] == "7-1" && words[start + 1] == "\(words.count - start - 2)")
        #expect(words[(start + 3)...].prefix(6) == ["1", "03", "b", "1000", "2", "A"])
    }

    @Test func `a step of a campaign gives the numbers of its lists before the lists`() {
        var request = StoreCampaignStep(token: token, campaign: "c", step: 3, after: "l", name: "n")
        request.fields = [("progress", "{}")]
        request.counts = [("accepted:1", 2)]
        request.strings = [.init(key: "sent:c:1:00:0", bytes: [65, 66], expiresAt: 9)]
        request.batches = [.init(shard: 3, lane: .bulk, tokens: 2, body: [67])]
        request.merged = [
            .init(
                campaign: "m", step: 5, lastStep: "k", fields: ["progress": "{}"], counts: ["merged:1": 4])
        ]
        (request.ending, request.reason, request.keep) = (.cancelled, "why", 7)
        #expect(
            words(request).dropFirst(4) == [
                "1:n:host", "c", "3", "n", "l", "7", "cancelled", "why", "1", "1", "1", "0", "1", "1",
                "progress",
                "{}", "accepted:1", "2", "sent:c:1:00:0", "AB", "9", "03", "b", "0", "2", "C",
                "m", "5", "k", "1", "1", "progress", "{}", "merged:1", "4",
            ])
    }

    @Test(arguments: [
        (Int64(0), StoreCampaignStep.Reply.doneBefore), (2, .paused), (3, .cancelled), (4, .full),
    ])
    func `a reply says why a step of a campaign did nothing`(number: Int64, reply: StoreCampaignStep.Reply)
        throws
    {
        #expect(try StoreCampaignStep.read(.array([.integer(number)])) == reply)
        let merged = StoreCampaignStep.Reply.mergedUnavailable("m")
        #expect(try StoreCampaignStep.read(.array([.integer(5), .bulk(Array("m".utf8))])) == merged)
    }

    @Test func `a reply of another form is an error that names the request`() {
        #expect(throws: StoreError.unexpectedReply("PromoteDue, short")) { try PromoteDue.read(.array([])) }
        #expect(throws: StoreError.unexpectedReply("ReadPushCounts")) { try ReadPushCounts.read(.integer(1)) }
        #expect(throws: StoreError.fenced(lease: "07")) {
            try PutBack.result(.error(RESPServerError(message: "FENCED 07")))
        }
    }

    @Test func `missing or non-numeric fields count as 0`() throws {
        let load = try ReadPushCounts.read(.array([.null, .bulk(Array("many".utf8))]))
        #expect(load == .init(open: 0, settled: 0))
    }
}
