import ControlChannel
import EventLoop
import FarmConfiguration
import FarmPolicy
import StoreProtocol

/// The app's intake, which runs in a process of its own.
extension HostedApp {
    /// The messages about the app for an intake that has just started.
    var intakeMessages: [IntakeMessage] { [.app(intakeSetup), intakeFence] }

    var intakeSetup: IntakeSetup {
        IntakeSetup(
            name: name, topic: configuration.topic, maxJobBytes: UInt64(configuration.maxJobBytes),
            maxTokens: UInt32(configuration.maxTokens),
            maxPayloadBytes: UInt32(configuration.binary?.longestPayload ?? 0),
            hasOneTopic: configuration.binary != nil, topics: configuration.topics.listed,
            isSandbox: configuration.gatewayEnvironment == AppConfiguration.Environment.sandbox.rawValue,
            registry: configuration.registry?.revealedURL() ?? "", maxRate: configuration.budget.maxRate ?? 0,
            backgroundBudget: UInt32(clamping: configuration.backgroundBudget.pushes),
            jobRecords: UInt64(context.retention.jobRecords),
            jobRecordSeconds: UInt64(context.retention.jobRecordSeconds))
    }

    var intakeFence: IntakeMessage {
        .fence(app: name, token: isQuiet ? [] : leases.machine.intake?.bytes ?? [])
    }

    /// Handles Redis's rejection of a fencing token of the intake. If this host has released the lease of this token,
    /// the rejection is expected, and nothing happens.
    func intakeFenced(_ token: [UInt8]) {
        if leases.machine.intake?.bytes == token { leases.fenced() }
    }

    /// Records that the intake process ended while it handled jobs of the app. `isOnlyApp` is true if the process
    /// handled only jobs of this app. A suspect job is refused if the intake was handling the job in `limit` crashes.
    func intakeEnded(_ process: String, isOnlyApp: Bool, limit: Int) async {
        var backoff = BackOff.redis
        // If Redis is unreachable for longer than a lease lasts, this host gives up: it no longer owns the intake, and
        // no job becomes a suspect.
        let deadline = ContinuousClock.now + SendDeadline.lease
        while let token = leases.machine.intake, ContinuousClock.now < deadline {
            do throws(StoreError) {
                let request = RecordIntakeCrash(
                    token: token, process: process, isOnlyApp: isOnlyApp, limit: limit,
                    retention: context.retention)
                return logSuspects(try await store.perform(request))
            } catch {
                guard error.isTemporary, (try? await Loop.sleep(for: backoff.failed())) != nil else {
                    log.error("cannot record which jobs are suspect", error: error)
                    return
                }
            }
        }
    }

    private func logSuspects(_ reply: RecordIntakeCrash.Reply) {
        if reply.isRefused {
            log.error("job refused: it crashed the intake repeatedly")
        } else if reply.suspects > 0 {
            log.warning(
                "splitting jobs one at a time: one of the jobs may have crashed the intake",
                metadata: ["jobs": "\(reply.suspects)", "ends": "\(reply.ends)"])
        }
    }
}
