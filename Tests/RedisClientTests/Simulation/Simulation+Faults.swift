import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// The faults of a simulation.
extension Simulation {
    /// - Returns: whether a fault happened in this turn.
    func injectFault() throws -> Bool {
        var dice = below(10_000)
        func falls(_ share: Int) -> Bool {
            dice -= share
            return dice < 0
        }
        if profile.rollBacks > 0, clock.now - (checkpoints.last?.at ?? 0) > 700_000 { try remember() }
        if falls(profile.workerKills) {
            killWorker()
        } else if falls(profile.workerStops) {
            let workers = hosts.flatMap(\.workers) + orphans
            if let worker = pick(workers) { worker.stop(for: 5 + below(245)) }
        } else if falls(profile.hostKills) {
            killHost()
        } else if falls(profile.hostStops) {
            if let host = pick(hosts) { host.stop(for: 5 + below(245), withWorkers: chance(60)) }
        } else if falls(profile.handOvers) {
            if let host = pick(hosts) { host.handOver() }
        } else if falls(profile.rollBacks) {
            try goBack()
        } else if falls(profile.clockJumps) {
            let most = chance(50) ? 20_000_000 : 3_600_000_000
            clock.jump(Int64(below(2 * most) - most))
            note("Redis's clock is \(clock.redisMilliseconds)")
        } else if falls(profile.flushes) {
            note("SCRIPT FLUSH")
            try redis.run("SCRIPT", "FLUSH")
        } else if falls(profile.pauses) {
            isPaused.toggle()
            note("paused: \(isPaused)")
        } else if falls(profile.cancels) {
            try cancel()
        } else if falls(profile.holds) {
            try chance(50) ? hold() : resume()
        } else if falls(profile.promotions) {
            try promote()
        } else {
            return false
        }
        return true
    }

    private func killWorker() {
        guard let host = pick(hosts), let worker = pick(host.workers) else { return }
        if chance(20), ownCrashes < profile.ownCrashes {
            ownCrashes += 1
            host.lose(worker, .crash)
        } else {
            host.lose(worker, chance(70) ? .kill : .regular)
        }
    }

    private func killHost() {
        guard let host = pick(hosts) else { return }
        note("\(host.name) is killed")
        // Some workers notice that their coordinator has exited, and report their outcomes before they exit.
        // Others are suspended, or die with the coordinator.
        for worker in host.workers where chance(60) {
            if chance(80) { worker.finish() }
            if chance(30) { worker.stop(for: 5 + below(245)) }
            orphans.append(worker)
        }
        while orphans.count > 4 { orphans.removeFirst() }
        host.restart(after: chance(50) ? 0 : below(300))
    }

    // MARK: Redis goes back in time

    /// The maximum time, in microseconds, whose data a restored Redis has lost.
    /// This is longer than a Redis after a power failure loses, and shorter than the time for which workers keep their outcomes.
    private static let forgetfulness: Int64 = 6_000_000
    private static let databases = 1...9

    private func remember() throws {
        checkpoints.removeAll { $0.at < clock.now - Self.forgetfulness }
        let used = Set(checkpoints.map(\.database))
        guard let database = Self.databases.first(where: { !used.contains($0) }) else { return }
        try redis.run(
            "EVAL",
            """
            redis.call('SELECT', ARGV[1])
            redis.call('FLUSHDB')
            redis.call('SELECT', 0)
            for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', key, key, 'DB', ARGV[1]) end
            """, "0", "\(database)")
        checkpoints.append(Checkpoint(database: database, turn: turn - 1, jobs: jobs.count, at: clock.now))
    }

    private func goBack() throws {
        guard let checkpoint = pick(checkpoints.filter { $0.at >= clock.now - Self.forgetfulness }) else {
            return
        }
        note("Redis is restored to turn \(checkpoint.turn + 1), when there were \(checkpoint.jobs) jobs")
        try redis.run(
            "EVAL",
            """
            redis.call('FLUSHDB')
            redis.call('SELECT', ARGV[1])
            for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', key, key, 'DB', 0) end
            """, "0", "\(checkpoint.database)")
        for number in checkpoint.jobs..<max(checkpoint.jobs, jobs.count) { jobs[number].mayBeLost = true }
        // Copies from later turns contain data that the restored Redis never had.
        checkpoints.removeAll { $0.turn > checkpoint.turn }
        gateway.redisWentBack(to: checkpoint.turn)
        forgetLateRequests()
        for host in hosts { host.redisIsAnother() }
        for orphan in orphans { orphan.redisIsAnother() }
    }
}
