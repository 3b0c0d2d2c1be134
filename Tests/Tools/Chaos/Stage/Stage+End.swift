package import ChaosChecker
import EventLoop
import FarmHarness
import Foundation
import RedisProtocol

/// The end of a run: all accepted pushes finish, the farm shuts down, and the checker reads the ledgers.
extension Stage {
    /// - Returns: the complaints of the checker and the scenario.
    package func finish(within limit: Duration = .seconds(120)) async throws -> Verdict {
        await stopFlow()
        for proxy in redisProxies { proxy.heal() }
        gatewayProxy.heal()
        let isDone = await settled(within: limit)
        if !isDone { complain("not everything was finished within \(limit)") }
        for host in hosts { await end(host) }
        await observer.stop()
        let evidence = try await evidence()
        try keep(evidence)
        return await Self.judge(evidence, expectation)
    }

    @concurrent private static func judge(_ evidence: Evidence, _ expectation: Expectation) async -> Verdict {
        Checker.judge(evidence, expectation)
    }

    /// Waits until every accepted job has a finished job record.
    private func settled(within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            // A failpoint may still end a coordinator now, so the wait also restarts coordinators.
            if !options.failpoints.isEmpty { try? await restartTheDead() }
            if let jobRecords = await observer.observe(), await isSettled(jobRecords) { return true }
            _ = try? await Loop.sleep(for: .milliseconds(300))
        }
        return false
    }

    /// Whether all jobs are finished now.
    func isIdle() async -> Bool {
        guard let jobRecords = await observer.observe() else { return false }
        return await isSettled(jobRecords)
    }

    private func isSettled(_ jobRecords: [String: [String: String]]) async -> Bool {
        guard jobRecords.values.allSatisfy({ $0["state"] == "finished" }),
            campaigns.allSatisfy({ jobRecords[$0.id] != nil })
        else { return false }
        for note in producers.flatMap(\.notes) where note.kind == .accepted && jobRecords[note.job] == nil {
            if !expectation.rollBacks.contains(where: { $0.forgotten.contains(note.at) }) { return false }
        }
        guard let redis = try? await PlainRedis(redis.socket),
            let replies = try? await redis.call([
                ["LLEN", "pushfarm:demo"], ["LLEN", "{pushfarm:demo}:taken"],
            ])
        else { return false }
        return replies.allSatisfy { $0.integer == 0 }
    }

    /// Shuts a host down, and complains about processes that remain.
    private func end(_ host: Host) async {
        host.signalAll(SIGCONT)
        guard !host.hasEnded else {
            complain(
                "the coordinator of \(host.name) has ended: \(host.coordinator.end.map { "\($0)" } ?? "")")
            return
        }
        // The exit status of a successor is not available to the stage.
        let isFirst = !host.coordinator.hasEnded
        do {
            try await eventually("\(host.name) handles signals") { host.isAtWork }
            host.signal(SIGTERM)
            let end = try await host.ended()
            if isFirst, end != .exited(0) {
                complain("the coordinator of \(host.name), after SIGTERM: \(end)")
            }
            try await eventually("no process of \(host.name) is left", within: .seconds(20)) {
                host.children.isEmpty
            }
        } catch { complain("\(error)") }
    }

    // MARK: Evidence

    private func evidence() async throws -> Evidence {
        var evidence = Evidence()
        evidence.producers = producers.flatMap(\.notes)
        evidence.notes = observer.notes
        evidence.faults = faults
        if !campaigns.isEmpty { _ = await readCampaigns() }
        (evidence.campaigns, evidence.merges) = (campaigns, merges)
        evidence.gateway = try await GatewayLedger.read(gateway.ledgerFile)
        evidence.shards = TokenShards.of(evidence.gateway)
        let redis = try await PlainRedis(redis.socket)
        evidence.events = try await events(redis)
        evidence.leftovers = try await leftovers(redis)
        return evidence
    }

    private func events(_ redis: PlainRedis) async throws -> [EventNote] {
        var notes: [EventNote] = []
        var start = "-"
        while true {
            let reply = try await redis.call(
                ["XRANGE", "{pushfarm:demo}:events", start, "+", "COUNT", "5000"], within: .seconds(30))
            guard let entries = reply.array, !entries.isEmpty else { return notes }
            for entry in entries {
                guard let fields = entry.array?.last?.fields, let type = fields["type"] else { continue }
                notes.append(
                    EventNote(type: type, at: fields["at"].flatMap { Int64($0) } ?? 0, fields: fields))
            }
            start = "(" + (entries.last?.array?.first?.text ?? "")
        }
    }

    /// The keys that should be empty or missing at the end; inbox and results stream with their lengths.
    private func leftovers(_ redis: PlainRedis) async throws -> [String] {
        let names = try await redis.call(["KEYS", "{pushfarm:demo}:*"]).array?.compactMap(\.text) ?? []
        let open = [
            "taken", "ready:", "bulk:", "in_flight:", "delayed", "paused", "batches", "states", "devices",
            "campaigns",
        ]
        var found = names.filter { name in
            open.contains { name.hasPrefix("{pushfarm:demo}:" + $0) } && !mayBePaused(name)
        }
        for (command, key) in [("LLEN", "pushfarm:demo"), ("XLEN", "{pushfarm:demo}:results")] {
            let length = try await redis.call([command, key]).integer ?? 0
            if length > 0 { found.append("\(key) with \(length) entries") }
        }
        return found
    }

    private func mayBePaused(_ name: String) -> Bool { mayPause && !name.contains(":ready:") }

    /// Writes the checker's evidence into the folder for later analysis.
    private func keep(_ evidence: Evidence) throws {
        try folder.write(
            evidence.producers.map { "\($0.at) \($0.producer) \($0.job) \(Self.word($0.kind))" }
                .joined(separator: "\n"), to: "producers.log")
        try folder.write(
            evidence.faults.map { "\($0.at) \($0.until) \($0.what)" }.joined(separator: "\n"),
            to: "faults.log")
        try folder.write(
            evidence.events.map { "\($0.at) \($0.type) \($0.fields)" }.joined(separator: "\n"),
            to: "events.log")
        try folder.write(
            evidence.notes.map { "\($0.number) \($0.at) \($0.jobRecords.map { "\($0)" } ?? "no answer")" }
                .joined(separator: "\n"), to: "job-records.log")
    }

    private static func word(_ kind: ProducerNote.Kind) -> String {
        switch kind {
        case .attempt(let promise): "attempt \(promise.tokens.count) \(promise.atMostOnce ? "once" : "")"
        case .accepted: "accepted"
        case .refused: "refused"
        case .unknown: "unknown"
        }
    }
}
