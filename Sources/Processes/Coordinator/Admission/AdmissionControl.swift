import EventLoop
import FarmPolicy
import Logging
import RedisClient
import StoreProtocol

/// Opens or closes admission for each app of this host once a second, by Redis's memory and the app's limits.
///
/// If several hosts have an app, each of these hosts updates the app's admission, and the repeated updates do no harm.
@Loop final class AdmissionControl {
    private let farmRedis: FarmRedis
    private let shards: Int
    private let log: Logger
    private var policy = AdmissionPolicy()
    /// For each app, the number of pushes in batches and in the results stream, as Redis last counted them.
    private var open: [String: Int] = [:]
    /// The sum of the open pushes of all apps.
    var openPushes: Int { open.values.reduce(0, +) }
    /// The number of batches that are ready or in flight in all apps that are not paused, as Redis last counted them.
    private(set) var batches = 0
    /// The last reading of Redis's memory use; nil before the first reading.
    private(set) var memory: AdmissionPolicy.Reading?
    private var isBlind = false
    private var lastReading: UInt64?
    private var hasFunctions = true
    private var isInTrouble = false

    /// The minimum time that producers must wait while admission is closed.
    private static let retryAfter = Duration.seconds(1)
    /// Milliseconds between two checks that Redis still has the functions for producers.
    private static let readingInterval: UInt64 = 10_000

    init(_ farmRedis: FarmRedis, shards: Int, log: Logger) {
        (self.farmRedis, self.shards, self.log) = (farmRedis, shards, log)
    }

    /// Makes the next update check the functions again, because Redis may lack the functions after a reconnect.
    func reconnected() { lastReading = nil }

    /// Updates admission and then loads missing functions. The limits of the apps are set first, because the submit function
    /// treats an app without limits as unknown.
    func update(_ apps: some Sequence<HostedApp>) async {
        let apps = Array(apps)
        await updateAdmission(apps)
        await keepFunctions(apps)
    }

    private func updateAdmission(_ apps: [HostedApp]) async {
        guard let memory = await askMemory() else { return }
        let now = Loop.milliseconds
        let reading = AdmissionPolicy.Reading(
            used: memory.countedMemory, limit: memory.memoryLimit, open: openPushes)
        self.memory = reading
        let decision = policy.decide(reading, now: now)
        var counted: [String: Int] = [:]
        var batches = 0
        for app in apps {
            let reply = await updateAdmission(app, decision, reading.limit)
            counted[app.name] = reply?.open ?? open[app.name]
            batches += reply?.batches ?? 0
        }
        open = counted
        self.batches = batches
    }

    /// - Returns: Redis's counts of the app; nil if Redis did not reply.
    private func updateAdmission(
        _ app: HostedApp, _ decision: AdmissionPolicy.Decision, _ redisLimit: Int
    ) async -> UpdateAdmission.Reply? {
        let memory: UpdateAdmission.Memory =
            switch decision.memory {
            case .full: .full
            case .relieved: .relieved
            case .keep: .keep
            }
        let updateAdmission = UpdateAdmission(
            memory: memory, limitsIntake: decision.limitsIntake, retryAfter: Self.retryAfter,
            limits: app.limits(memory: redisLimit), jobRecordSeconds: app.jobRecordSeconds)
        do throws(StoreError) {
            let reply = try await app.store.perform(updateAdmission)
            isInTrouble = false
            if reply.isNew { logAdmission(app.name, reply) }
            return reply
        } catch {
            if !isInTrouble, error.isRefusal {
                log.error(
                    "cannot update admission", error: error,
                    metadata: ["app": "\(app.name)"])
                isInTrouble = true
            }
            return nil
        }
    }

    private func logAdmission(_ app: String, _ reply: UpdateAdmission.Reply) {
        guard let reason = reply.full else {
            return log.notice(
                "admission opened: producers may submit jobs again", metadata: ["app": "\(app)"])
        }
        log.warning(
            "admission closed: producers are told to wait",
            metadata: [
                "app": "\(app)", "reason": "\(reason.rawValue)", "open": "\(reply.open)",
                "inbox": "\(reply.inbox)",
            ])
    }

    private func askMemory() async -> RedisInfo? {
        do throws(RedisError) {
            let info = try await farmRedis.memory()
            isBlind = false
            return info
        } catch {
            guard error.isRefusal else { return nil }
            if !isBlind {
                log.error(
                    "cannot read Redis's memory: admission closes only when Redis is full; the farm's Redis user needs +info",
                    error: error)
                isBlind = true
            }
            // Without a memory reading, each app's own limits still apply.
            return RedisInfo("")
        }
    }

    private func keepFunctions(_ apps: [HostedApp]) async {
        let now = Loop.milliseconds
        if let lastReading, now - lastReading < Self.readingInterval { return }
        lastReading = now
        do throws(RedisError) {
            // A flushed Redis has lost the number of shards and the list of apps, so this call writes them again.
            _ = try await farmRedis.keepInitialised(shards: shards, apps: apps.map(\.name).sorted())
            if try await farmRedis.loadFunctions() { log.info("functions for producers loaded") }
            hasFunctions = true
        } catch {
            // A refusal is logged once. After any error, the next check tries again.
            guard hasFunctions, error.isRefusal else { return }
            hasFunctions = false
            log.warning("cannot load the functions for producers", error: error)
        }
    }
}
