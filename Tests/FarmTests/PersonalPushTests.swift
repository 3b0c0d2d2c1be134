import FarmHarness
import Foundation
import OpenSSL
import PushModel
import Testing

/// Jobs with one payload and values for each push. The simulator's ledger has the hash of each payload that arrived.
@Suite(.startsProcesses(limit: .seconds(300))) struct PersonalPushTests {
    private static let tokens = Tokens.make(1_000)

    /// A job with values for each token, and the payload that each token must get.
    private static func job(
        _ id: String, _ fields: String = ""
    ) -> (text: String, payloads: [String: String]) {
        var pushes: [String] = []
        var payloads: [String: String] = [:]
        for (number, token) in tokens.enumerated() {
            var push = #"{"token":"\#(token)","values":{"n":\#(number)"#
            let isNamed = number % 3 > 0
            if isNamed { push += #","name":"Zoë \"\#(number)\"""# }
            push += "}"
            if number % 10 == 0 { push += #","collapse_id":"c\#(number)","ttl":0"# }
            pushes.append(push + "}")
            let name = isNamed ? #"Zoë \"\#(number)\""# : "there"
            payloads[token] = #"{"aps" : {"alert":"Hi \#(name)!","badge":\#(number)} }"#
        }
        let payload = #"{"aps" : {"alert":"Hi {{name|there}}!","badge":"{{=n}}"} }"#
        let text =
            #"{"id":"\#(id)",\#(fields)"payload":\#(payload),"pushes":[\#(pushes.joined(separator: ","))]}"#
        return (text, payloads)
    }

    private static func hash(_ payload: String?) -> String? {
        payload.map { Hexadecimal.text(of: SHA256.hash(Array($0.utf8))) }
    }

    /// Checks the payload and the own options of each accepted push.
    private static func check(_ ledger: Ledger, _ payloads: [String: String]) {
        for line in ledger.lines where line.status == 200 {
            #expect(line.bodySha256 == hash(line.token.flatMap { payloads[$0] }) && line.warning == nil)
            let number = line.token.flatMap { tokens.firstIndex(of: $0) } ?? 0
            #expect(line.collapseId == (number % 10 == 0 ? "c\(number)" : nil))
            #expect(line.expiration == (number % 10 == 0 ? "0" : nil))
        }
    }

    @Test func `each token gets its own text and options, also when a worker is killed`() async throws {
        let farm = try await Farm(
            Farm.Options(faults: ["latency 1s", "streams 100"], appLines: ["max_conns: 2"]))
        let before = try await farm.ready()
        let job = Self.job("personal")
        try farm.push(job.text)
        try await farm.gateway.requests(200)
        farm.kill(worker: before.workers[0].pid)
        try farm.gateway.control("latency 20ms")
        let jobRecord = try await farm.finished("personal")
        #expect(jobRecord.accepted == 1_000 && jobRecord.delivered == 1_000 && jobRecord.failed == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: Self.tokens) == 0 && ledger.doubles <= jobRecord.maybeDuplicated)
        Self.check(ledger, job.payloads)
    }

    @Test func `retries, dead letters and their replay have the rendered payload`() async throws {
        let farm = try await Farm()
        try farm.gateway.control("answer 400 reason=PayloadTooLarge share=0.3")
        let job = Self.job("letters")
        try farm.push(job.text)
        let failed = try await farm.finished("letters").failed
        #expect((100...600).contains(failed))
        try farm.gateway.control("calm")
        // The gateway responds to half of the replay's requests with a temporary error, so the farm retries many pushes.
        try farm.gateway.control("answer 503 reason=ServiceUnavailable share=0.5")
        #expect(try await farm.run("replay", "--job", "letters").status == 0)
        try await farm.gateway.requests(1_000 + failed / 2)
        try farm.gateway.control("calm")
        var delivered = 0
        for number in 1...failed where delivered < failed {
            delivered += try await farm.finished("letters.r\(number)").delivered
        }
        #expect(delivered == failed)
        let ledger = try farm.gateway.ledger()
        #expect(Self.tokens.allSatisfy { ledger.deliveries[$0] == 1 })
        Self.check(ledger, job.payloads)
    }

    /// During an upgrade, a worker of an older release may get the batches of a newer intake. To simulate this, the test gives
    /// the batches a version that no release has.
    @Test func `batches of an unknown version are quarantined, and sent after the upgrade`() async throws {
        let farm = try await Farm()
        let redis = try farm.redis.client()
        let job = Self.job("newer", #""deliver_at":\#(Int(Date().timeIntervalSince1970) + 3600),"#)
        try farm.push(job.text)
        try await eventually("the job is split") { try await farm.jobRecord("newer")?.accepted == 1_000 }
        let bodies = "{pushfarm:demo}:batches"
        func setVersion(from old: UInt8, to new: UInt8) throws -> Int {
            let script = """
                local changed, all = 0, redis.call('HGETALL', KEYS[1])
                for i = 1, #all, 2 do
                    if all[i + 1]:byte(1) == tonumber(ARGV[1]) then
                        redis.call('HSET', KEYS[1], all[i], string.char(ARGV[2]) .. all[i + 1]:sub(2))
                        changed = changed + 1
                    end
                end
                return changed
                """
            return try redis.run("EVAL", script, "1", bodies, "\(old)", "\(new)").integer.map { Int($0) } ?? 0
        }
        let batches = try setVersion(from: 2, to: 99)
        #expect(batches > 1, "one of each shard")
        #expect(try await farm.run("promote", "newer").status == 0)
        try await eventually("all batches are quarantined") {
            try redis.run("LLEN", "{pushfarm:demo}:paused").integer == Int64(batches)
        }
        #expect(try farm.gateway.ledger().lines.isEmpty, "no push of an unreadable batch is sent")
        #expect(try await farm.jobRecord("newer")?.state == "open")
        #expect(try setVersion(from: 99, to: 2) == batches)
        #expect(try await farm.run("resume", "--quarantined", "all").status == 0)
        #expect(try await farm.finished("newer").delivered == 1_000)
        Self.check(try farm.gateway.ledger(), job.payloads)
        #expect(try farm.gateway.ledger().lines.count == 1_000)
    }

    @Test func `a job without a value is refused whole`() async throws {
        let farm = try await Farm()
        let text = Self.job("refused").text.replacing(#""values":{"n":17}"#, with: #""values":{}"#)
            .replacing(#""values":{"n":17,"#, with: #""values":{"#)
        try farm.push(text)
        try farm.push(Self.job("next").text)
        #expect(try await farm.finished("next").delivered == 1_000)
        let refused = try farm.redis.client().run("XRANGE", "{pushfarm:demo}:refused", "-", "+").entries
        #expect(refused.count == 1 && refused[0]["field"] == "pushes[17].values.n")
        #expect(try farm.gateway.ledger().lines.count == 1_000)
    }
}
