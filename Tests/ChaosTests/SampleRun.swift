import ChaosChecker

/// The evidence of a correct run with a killed worker and an invalid token.
struct SampleRun {
    var evidence = Evidence()
    var expectation = Expectation(doubles: 1)
    private var streams: [Int: Int] = [:]
    private var time: Int64 = 1_000

    /// Makes three jobs: one with an invalid token and a duplicated push, one with all receipts, one with at-most-once delivery.
    init() {
        accept("a", ["a1", "a2", "a3", "dead"])
        accept("b", ["b1", "a1"]) { $0.allReceipts = true }
        accept("c", ["c1", "c2"]) { $0.atMostOnce = true }
        observe([
            "a": ["submitted": 4, "accepted": 4, "in_flight": 2],
            "b": ["submitted": 2, "accepted": 2],
            "c": ["submitted": 2, "accepted": 2],
        ])
        for token in ["a1", "a2"] { request("a", token) }
        request("a", "dead", connection: 2, status: 410, reason: "Unregistered")
        request("a", "a3", connection: 2, status: 503, reason: "ServiceUnavailable")
        request("a", "a2", connection: 2)
        let now = tick()
        evidence.faults.append(FaultNote(at: now, until: now, what: "kill worker"))
        for token in ["b1", "a1"] { request("b", token) }
        event("push.failed", "a", ["token": "dead", "reason": "Unregistered", "status": "410"])
        request("a", "a3", connection: 2)
        request("c", "c1")
        event("push.delivered", "b", ["token": "b1"])
        event("push.delivered", "b", ["token": "a1"])
        event("push.failed", "c", ["token": "c2", "reason": "unknown"])
        finish("a", 4, ["delivered": 3, "failed": 1])
        finish("b", 2, ["delivered": 2])
        finish("c", 2, ["delivered": 1, "failed": 1])
        observe([
            "a": [
                "submitted": 4, "accepted": 4, "delivered": 3, "failed": 1, "reason:Unregistered": 1,
                "maybe_duplicated": 1,
            ],
            "b": ["submitted": 2, "accepted": 2, "delivered": 2],
            "c": ["submitted": 2, "accepted": 2, "delivered": 1, "failed": 1, "reason:unknown": 1],
        ])
    }

    var verdict: Verdict { Checker.judge(evidence, expectation) }

    private mutating func tick() -> Int64 {
        time += 10
        return time
    }

    private mutating func accept(
        _ job: String, _ tokens: [String], _ change: (inout ProducerNote.Promise) -> Void = { _ in }
    ) {
        var promise = ProducerNote.Promise(tokens: tokens)
        change(&promise)
        for kind in [ProducerNote.Kind.attempt(promise), .accepted] {
            evidence.producers.append(ProducerNote(at: tick(), producer: "shop", job: job, kind: kind))
        }
        event(
            "job.accepted", job, ["accepted": "\(tokens.count)"])
    }

    private mutating func request(
        _ job: String, _ token: String, connection: Int = 1, status: Int = 200, reason: String = ""
    ) {
        let stream = streams[connection, default: -1] + 2
        streams[connection] = stream
        evidence.gateway.append(
            GatewayNote(
                at: tick(), connection: connection, stream: stream, job: job, token: token, status: status,
                reason: reason))
    }

    private mutating func event(_ type: String, _ job: String, _ more: [String: String]) {
        let fields = more.merging(["job": job, "type": type]) { $1 }
        evidence.events.append(EventNote(type: type, at: tick(), fields: fields))
    }

    private mutating func finish(_ job: String, _ accepted: Int, _ outcomes: [String: Int]) {
        var fields = ["accepted": "\(accepted)", "delivered": "\(outcomes["delivered"] ?? 0)"]
        for (name, count) in outcomes where count > 0 { fields[name] = "\(count)" }
        event("job.finished", job, fields)
    }

    private mutating func observe(_ jobRecords: [String: [String: Int]]) {
        let texts = jobRecords.mapValues { numbers in
            let closed = (numbers["delivered"] ?? 0) + (numbers["failed"] ?? 0)
            let isFinished = closed == numbers["accepted"]
            return numbers.mapValues { "\($0)" }.merging(
                ["state": isFinished ? "finished" : "open", "created_at": "1000"]
            ) { $1 }
        }
        evidence.notes.append(
            JobRecordsNote(number: evidence.notes.count + 1, at: tick(), jobRecords: texts))
    }
}
