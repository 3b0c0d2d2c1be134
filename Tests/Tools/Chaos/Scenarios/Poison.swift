import EventLoop
import FarmHarness

/// Scenarios with invalid jobs, and with pushes that crash their process.
extension Scenario {
    private static let poisonToken = "b01d" + String(repeating: "7", count: 60)

    static let poison: [Scenario] = [
        Scenario(20, "malformed jobs") { stage in
            stage.startFlow()
            try await stage.again(every: .milliseconds(200)) {
                for text in Scenario.malformed { try stage.runInRedis("RPUSH", "pushfarm:demo", text) }
            }
            let refused = try stage.runInRedis("XLEN", "{pushfarm:demo}:refused").integer ?? 0
            if refused < Scenario.malformed.count { stage.complain("only \(refused) jobs refused") }
        },
        Scenario(
            21, "a token that crashes its worker",
            .with { $0.failpoints = ["send.before@\(poisonToken):crash"] }
        ) {
            stage in
            stage.startFlow()
            try await stage.pause(.seconds(1))
            stage.expectation.poison = [poisonToken]
            // The poison crashes three workers, each with other pushes in flight.
            stage.expectDoubles(4)
            await stage.fault("poison") {
                await stage.push(token: poisonToken, among: 50)
            }
            try await stage.pause(.seconds(8))
            if stage.failures.count > 3 { stage.complain("\(stage.failures.count) crashes, not 3") }
        },
        Scenario(
            21, "a batch that crashes each worker that reads it",
            .with { $0.failpoints = ["batch.read@poison-batch:crash:1:0:3"] }
        ) { stage in
            stage.startFlow()
            try await stage.pause(.seconds(1))
            // The crashed workers had other pushes in flight, which may be duplicated.
            stage.expectDoubles(3)
            await stage.fault("poison") { await stage.push(name: "poison-batch", size: 40) }
            try await eventually("the batch has crashed three workers", within: .seconds(60)) {
                stage.failures.count == 3
            }
        },
        Scenario(
            21, "a job that crashes each intake that parses it",
            .with { $0.failpoints = ["intake.parse@poison-job:crash"] }
        ) { stage in
            stage.startFlow()
            try await stage.pause(.seconds(1))
            let text =
                #"{"id":"poison-job","tokens":["\#(poisonToken)"],"payload":{"aps":{}},"collapse_id":"poison-job"}"#
            try await stage.fault("poison") {
                try stage.runInRedis("RPUSH", "pushfarm:demo", text)
                try await eventually("the job is refused", within: .seconds(60)) {
                    try stage.runInRedis("XLEN", "{pushfarm:demo}:refused").integer == 1
                }
            }
            if stage.hosts[0].coordinator.hasEnded { stage.complain("the coordinator ended too") }
            try await stage.pause(.seconds(1))
        },
    ]

    static let malformed: [String] = [
        "", "{", "null", "[]", #"{"tokens":[]}"#, #"{"tokens":["aa"],"payload":{"aps":{}}"#,
        #"{"tokens":"aa","payload":{"aps":{}}}"#, #"{"tokens":["aa"],"payload":[]}"#,
        #"{"tokens":["00fc13adff785122"],"payload":{"aps":{}},"lanes":"high"}"#,
        #"{"tokens":["00fc13adff785122"],"payload":{"aps":{}},"priority":11}"#,
        #"{"id":"","tokens":["00fc13adff785122"],"payload":{"aps":{}}}"#,
        #"{"tokens":["00fc13adff785122"],"payload":{"aps":{"alert":"\#(String(repeating: "x", count: 5000))"}}}"#,
        String(repeating: "[", count: 10_000), "\u{0}\u{1}\u{2}", #"{"a":"\ud800"}"#,
    ]
}

extension Stage {
    /// Pushes a job with this id.
    func push(name: String, size: Int) async {
        let (job, promise) = load.job(size, named: name)
        await producers[0].push(job, promise)
    }

    /// Pushes a job with this token among others.
    func push(token: String, among count: Int) async {
        var (job, promise) = load.job(count)
        job.tokens.insert(token, at: count / 2)
        promise.tokens = job.tokens
        await producers[0].push(job, promise)
    }
}
