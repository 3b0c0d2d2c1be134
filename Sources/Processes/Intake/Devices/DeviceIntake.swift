import EventLoop
import Logging
import RedisClient
import Registry
import StoreProtocol

/// Applies the device inputs of an app to the app's registry, while this host has the intake's lease.
///
/// The intake takes up to ``DeviceStep/mostInputs`` inputs, applies them, and only then removes them from the taken inputs. If the
/// process is killed, the next owner of the intake applies the same inputs again, which does not change the registry a second
/// time.
@Loop final class DeviceIntake {
    let context: IntakeContext
    let name: String
    let log: Logger
    let store: AppRedis
    let writer: any DeviceWriter
    /// The unique name of this process.
    let process = String(UInt64.random(in: .min ... .max), radix: 36)
    private(set) var rules: DeviceInputRules
    private let watcher: InboxWatcher<AwaitInput>
    private let work: LeasedTask

    init(_ context: IntakeContext, app name: String, rules: DeviceInputRules, writer: any DeviceWriter) {
        (self.context, self.name, self.rules, self.writer) = (context, name, rules, writer)
        var log = context.log
        log[metadataKey: "app"] = "\(name)"
        self.log = log
        store = AppRedis(app: name, connection: context.redis)
        watcher = InboxWatcher(
            app: name, settings: context.redis.settings, AwaitInput(.devices, timeout: WatchTimes.longest))
        work = LeasedTask { [watcher] in watcher.close() }
    }

    func start() {
        work.start { token throws(StoreError) in
            try await self.serve(token)
        } recover: { error, token in
            await self.recover(from: error, token)
        }
    }

    /// Ends the intake after the current call. Inputs that are taken and not finished stay in Redis.
    func stop() async { await work.stop() }

    /// Applies the rules to inputs that are parsed from now on.
    func use(_ rules: DeviceInputRules) { self.rules = rules }

    /// Uses this fencing token for all further calls; nil stops the work.
    func setFenceToken(_ token: FenceToken?) { work.setFenceToken(token) }

    private func serve(_ token: FenceToken) async throws(StoreError) {
        // The registry may be unreachable for a long time, so this process becomes its writer only when there are inputs.
        var isWriter = false
        // One of the inputs that an earlier process took may have crashed that process. So the inputs of earlier
        // processes are tried one by one.
        var isAlone = true
        while work.mayServe(token) {
            let step = DeviceStep(intake: self, token: token, isAlone: isAlone)
            let taken = try await step.take()
            guard !taken.inputs.isEmpty else {
                if isAlone, taken.refused == 0 {
                    isAlone = false
                } else if taken.refused == 0 {
                    _ = await watcher.next()
                }
                continue
            }
            if !isWriter {
                try await step.takeOver()
                isWriter = true
            }
            try await step.carryOut(taken)
        }
    }

    private func recover(from error: StoreError, _ token: FenceToken) async {
        await work.recover(from: error, of: "device intake", log) {
            context.notify(.fenced(app: name, token: token.bytes))
        }
    }
}
