import FarmHarness
import Foundation
import Testing

/// A coordinator's metrics.
@Suite(.startsProcesses) struct MetricsTests {
    static let listen = "metrics: { listen: \"unix://FOLDER/metrics.sock\" }"

    @Test func `the metrics equal the gateway's counts for all kinds of responses`() async throws {
        // Faults for the metrics: the gateway sends some temporary errors and refuses some streams, and the test kills one
        // worker.
        let farm = try await Farm(
            Farm.Options(
                faults: ["answer 503 share=0.05", "refuse 0.02", "latency 5ms"], lines: [Self.listen]))
        _ = try await farm.ready()
        #expect(try farm.scrape().sum("pushfarm_outcomes_total") == 0)
        let good = Tokens.make(3_000)
        let bad = Tokens.make(60, start: "bad00000", seed: 2)
        let gone = Tokens.make(40, start: "dead0000", seed: 4)
        let all = (good + bad + gone).sorted { $0.suffix(16) < $1.suffix(16) }
        let jobs =
            Job.several("high", Array(all[..<1000]), size: 50)
            + Job.several("bulk", Array(all[1000...]), size: 500, fields: #""lane":"bulk""#)
        try farm.push(jobs)
        try await farm.gateway.requests(500)
        try farm.gateway.control("answer off")
        let totals = try await farm.finished(jobs)

        // The settled counts equal the counts of the job records and of the ledger.
        let scrape = try await eventually("all outcomes are settled") {
            let scrape = try farm.scrape()
            return Int(scrape.sum("pushfarm_outcomes_total")) == all.count ? scrape : nil
        }
        let app = ["app": "demo"]
        #expect(
            scrape.sums("pushfarm_outcomes_total", by: "outcome", app)
                == ["delivered": totals.delivered, "failed": totals.failed])
        let lanes = scrape.sums("pushfarm_outcomes_total", by: "lane", app)
        #expect(lanes == ["high": 1000, "bulk": all.count - 1000])
        let reasons = scrape.sums(
            "pushfarm_outcomes_total", by: "reason", ["app": "demo", "outcome": "failed"])
        #expect(reasons == totals.reasons)
        let ledger = try farm.gateway.ledger()
        let counts = Dictionary(grouping: ledger.lines, by: \.status).mapValues(\.count)
        #expect(totals.maybeDuplicated == 0 && ledger.doubles == 0)
        #expect(counts[200] == totals.delivered)
        #expect(reasons == ["BadDeviceToken": counts[400], "Unregistered": counts[410]])
        // Each 503 response causes one more attempt, and each response counts in the gateway's histogram.
        #expect(scrape.sums("pushfarm_retries_total", by: "cause", app)["server"] == counts[503])
        let responses = ledger.lines.count { $0.status != 0 }
        let numbers = try await eventually("the workers' numbers have come") {
            let scrape = try farm.scrape()
            return Int(scrape.sum("pushfarm_gateway_latency_seconds_count")) == responses ? scrape : nil
        }
        #expect(numbers.sum("pushfarm_gateway_latency_seconds_bucket", ["le": "+Inf"]) == Double(responses))
        #expect(
            numbers.sum("pushfarm_gateway_latency_seconds_bucket", ["le": "0.002"]) < Double(responses) / 2)
        // The metric counts every attempt, also attempts without a response.
        #expect(Int(numbers.sum("pushfarm_sent_total")) >= responses)
        #expect(
            Int(numbers.sum("pushfarm_queue_wait_seconds_count"))
                <= Int(numbers.sum("pushfarm_sent_total")))
        #expect(Int(numbers.sum("pushfarm_queue_wait_seconds_count")) >= all.count)
        #expect(numbers.sum("pushfarm_settle_latency_seconds_count") > 0)
        #expect(numbers.sum("pushfarm_worker_up") == 2 && numbers.sum("pushfarm_intake_up") == 1)
        #expect(numbers.sum("pushfarm_leases", app) == 64 && numbers.sum("pushfarm_ready") == 1)
        #expect(numbers.sum("pushfarm_redis_up") == 1)
        #expect(numbers.sum("pushfarm_intake_jobs_total") == Double(jobs.count))

        let worker = try #require(farm.workers.first)
        farm.kill(worker: worker)
        try await eventually("the end of a worker is counted") {
            try farm.scrape().sum("pushfarm_worker_restarts_total") == 1
        }
    }

    @Test func `the host with the intake reports the size and age of the backlog`() async throws {
        let farm = try await Farm(
            Farm.Options(
                faults: ["silence 1"], appLines: ["request_timeout: 300"], lines: [Self.listen]))
        _ = try await farm.ready()
        try farm.push([Job(id: "late", tokens: Tokens.make(30))])
        let scrape = try await eventually("the backlog has an age") {
            let scrape = try farm.scrape()
            return scrape.sum("pushfarm_backlog_age_seconds", ["lane": "high"]) >= 3 ? scrape : nil
        }
        #expect((1...30).contains(scrape.sum("pushfarm_streams", ["app": "demo"])))
        #expect(scrape.sum("pushfarm_backlog_pushes", ["app": "demo"]) == 30)
        #expect(scrape.sum("pushfarm_in_flight_batches") > 0)
    }

    @Test func `the metrics server has pages for liveness and readiness and a list of pages`() async throws {
        let farm = try await Farm(Farm.Options(lines: [Self.listen]))
        _ = try await farm.ready()
        let socket = farm.metricsSocket
        let page = try HTTPReply.get("/metrics", at: socket)
        #expect(page.head.contains("Content-Type: text/plain; version=0.0.4"))
        #expect(page.head.contains("Content-Length: \(page.body.utf8.count)\r\n"))
        #expect(try HTTPReply.get("/healthz", at: socket).status == 200)
        #expect(try HTTPReply.get("/readyz", at: socket).body == "ready\n")
        #expect(try HTTPReply.get("/metrics", at: socket, method: "HEAD").body == "")
        #expect(try HTTPReply.get("/secrets", at: socket).status == 404)
        #expect(try HTTPReply.get("/metrics", at: socket, method: "POST").status == 405)
        #expect(try HTTPReply.send("nonsense\r\n\r\n", at: socket).status == 400)
        let long = "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 9000))\r\n\r\n"
        #expect(try HTTPReply.send(long, at: socket).status == 431)
        // Forty connections that send nothing may block a scraper only until their deadline. Then the server closes them.
        let silent = try (0..<40).map { _ in try UnixSocket(socket) }
        try await eventually("a scraper gets through") { (try? farm.scrape()) != nil }
        _ = silent

        try await farm.redis.kill()
        try await eventually("it is not ready without Redis") {
            let reply = try HTTPReply.get("/readyz", at: socket)
            return reply.status == 503 && reply.body == "Redis is not reachable\n"
        }
        #expect(try HTTPReply.get("/healthz", at: socket).status == 200)
        #expect(try farm.scrape().sum("pushfarm_redis_up") == 0)
    }
}
