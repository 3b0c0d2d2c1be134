import ControlChannel
package import EventLoop
import FarmStore
package import Logging
import Supervision

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The intake of one host: turns the jobs of all apps into batches, in a process of its own that holds no key. What
/// producers send is parsed here and nowhere else.
///
/// Does what its coordinator orders over the control channel, and ends with it.
@Loop package final class IntakeProcess {
    private typealias Control = ControlLink<IntakeNotice, IntakeOrder>
    /// How long it waits for the end of a step when nobody is there any more who says so.
    private static let grace = Duration.seconds(5)
    private static let beatInterval = Duration.seconds(1)

    private let log: Logger
    private let control: Control
    private var context: IntakeContext?
    private var apps: [String: AppIntake] = [:]
    private var beat: Timer?
    private var beats = 0
    private var deadline: Timer?
    private var signals: [SignalWatcher] = []
    private var ending: CheckedContinuation<Int32, Never>?
    private var isFinishing = false

    package init(log: Logger) {
        self.log = log
        control = ControlLink(descriptor: ControlDescriptor.child, peer: "coordinator")
    }

    /// Runs until the work is done.
    /// - Returns: the process's exit status.
    package func run() async -> Int32 {
        control.onMessage = { [unowned self] order in obey(order) }
        control.onEnd = { [unowned self] error in
            if let error {
                log.critical("control channel broken", metadata: ["error": "\(error)"])
                return end(70)
            }
            log.warning("the coordinator is gone")
            finish(within: Self.grace)
        }
        signals = [SIGTERM, SIGINT].map { number in
            SignalWatcher(number) { [unowned self] in finish(within: Self.grace) }
        }
        return await withCheckedContinuation { ending = $0 }
    }

    private func obey(_ order: IntakeOrder) {
        switch order {
        case .begin(let redis, let authority, let name, let shards):
            begin(redis, authority, name, Int(shards))
        case .app(let setup): configure(setup)
        case .forget(let name):
            guard let app = apps.removeValue(forKey: name) else { return }
            Task { @Loop in await app.stop() }
        case .fence(let app, let token): apps[app]?.hold(token.isEmpty ? nil : FenceToken(token))
        case .finish(let milliseconds): finish(within: .milliseconds(Int64(milliseconds)))
        }
    }

    private func begin(_ redis: String, _ authority: [UInt8], _ name: String, _ shards: Int) {
        guard context == nil else { return }
        let settings: RedisSettings
        do {
            settings = try RedisSettings(
                url: redis, authority: authority, clientName: "pushfarm-intake-\(name)")
        } catch {
            log.critical("cannot use the address of Redis", metadata: ["error": "\(error)"])
            return end(70)
        }
        let connection = RedisConnection(settings)
        let context = IntakeContext(redis: connection, shards: shards, log: log) { [unowned self] notice in
            tell(notice)
        }
        self.context = context
        var isKnown = false
        connection.onReady = { [unowned self] _ in
            if !isKnown { tell(.hello) }
            isKnown = true
        }
        connection.onLoss = { [unowned self] error in
            log.warning("Redis is not reachable", metadata: ["error": "\(error)"])
        }
        connection.start()
        beat = Timer { [unowned self] in tellNumbers() }
        beat?.start(after: Self.beatInterval, every: Self.beatInterval)
    }

    private func tell(_ notice: IntakeNotice) {
        control.tell(notice)
        // The next thing that happens may be the end.
        if case .works = notice { control.sendNow() }
    }

    private func configure(_ setup: IntakeSetup) {
        guard let context, !isFinishing else { return }
        if let app = apps[setup.name] { return app.follow(setup) }
        let app = AppIntake(context, setup)
        apps[setup.name] = app
        app.start()
    }

    private func tellNumbers() {
        guard let context else { return }
        beats += 1
        if beats.isMultiple(of: 3) { Memory.releaseIdleCode() }
        context.counts.residentBytes = Memory.residentBytes
        tell(.beat(context.counts))
    }

    /// Does the steps that are under way, and no other.
    private func finish(within grace: Duration) {
        guard !isFinishing else { return }
        isFinishing = true
        deadline = Timer { [unowned self] in end(0) }
        deadline?.start(after: grace)
        let endings = apps.values.map { app in Task { @Loop in await app.stop() } }
        Task { @Loop in
            for ending in endings { await ending.value }
            end(0)
        }
    }

    private func end(_ status: Int32) {
        beat?.stop()
        context?.redis.close()
        control.close()
        ending?.resume(returning: status)
        ending = nil
    }
}
