import EventLoop
import FarmPolicy
import Logging
import RedisClient
import StoreProtocol

/// Tells producers and intakes how full Redis is, once a second: the gates of this host's apps.
///
/// Every host does it; to say the same again changes nothing.
@Loop final class AdmissionControl {
    private let registry: FarmRegistry
    private let shards: Int
    private let log: Logger
    private var policy = AdmissionPolicy()
    /// Pushes in batches and results, by app, as Redis last counted them.
    private var open: [String: Int] = [:]
    /// Their sum.
    var openPushes: Int { open.values.reduce(0, +) }
    /// Batches that are ready or in flight, of all apps that are not paused, as Redis last counted them.
    private(set) var batches = 0
    /// What Redis's memory is used for, as it last said.
    private(set) var memory: AdmissionPolicy.Reading?
    private var isBlind = false
    private var lastReading: UInt64?
    private var hasFunctions = true
    private var isInTrouble = false

    /// How long producers must wait at least.
    private static let retryAfter = Duration.seconds(1)
    /// Between looks whether Redis still has the functions.
    private static let readingInterval: UInt64 = 10_000

    init(_ registry: FarmRegistry, shards: Int, log: Logger) {
        (self.registry, self.shards, self.log) = (registry, shards, log)
    }

    /// Redis may be another one than before.
    func reconnected() { lastReading = nil }

    /// The apps' limits come first: the function takes an app without them for unknown.
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

    /// - Returns: what Redis has of the app; nil if it did not say.
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
            memory: memory, isHeld: decision.isHeld, retryAfter: Self.retryAfter,
            limits: app.limits(memory: redisLimit))
        do throws(StoreError) {
            let reply = try await app.store.perform(updateAdmission)
            isInTrouble = false
            if reply.isNew { logAdmission(app.name, reply) }
            return reply
        } catch {
            if !isInTrouble, error.isRefusal {
                log.error(
                    "cannot tell producers whether admission is open", error: error,
                    metadata: ["app": "\(app.name)"])
                isInTrouble = true
            }
            return nil
        }
    }

    private func logAdmission(_ app: String, _ reply: UpdateAdmission.Reply) {
        guard let reason = reply.full else {
            return log.notice("admission opened: producers may push again", metadata: ["app": "\(app)"])
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
            let info = try await registry.memory()
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
            // Its own limits an app has all the same.
            return RedisInfo("")
        }
    }

    private func keepFunctions(_ apps: [HostedApp]) async {
        let now = Loop.milliseconds
        if let lastReading, now - lastReading < Self.readingInterval { return }
        lastReading = now
        do throws(RedisError) {
            // A Redis that was flushed knows neither the farm nor its apps.
            _ = try await registry.keepInitialised(shards: shards, apps: apps.map(\.name).sorted())
            if try await registry.loadFunctions() { log.info("functions for producers loaded") }
            hasFunctions = true
        } catch {
            // Said once; a Redis that is full or away is asked again.
            guard hasFunctions, error.isRefusal else { return }
            hasFunctions = false
            log.warning("cannot load for producers the function \(FunctionLibrary.submit)", error: error)
        }
    }
}
