import ControlChannel
import EventLoop
import FarmPolicy
import FarmStore
import Logging
import Supervision

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What operators tell this host to do, one verb after the other.
extension Coordinator {
    /// Takes what was put before this host. Of two coordinators in an upgrade it is the one that has the host's name: the
    /// other one knows of no upgrade, and its workers are not those that an operator means.
    func lookForOperations() async {
        guard !isSucceeding, !isSucceeded, !isUnseated else { return }
        await operations.look()
    }

    /// What was done shows in the host's line when the answer comes.
    func carryOut(_ command: OperatorCommand, _ operation: Operation) async throws(OperationRefusal) -> String
    {
        let answer = try await obey(command, operation)
        if !command.isDryRun, redis.isReady, !isSucceeding, !isSucceeded { await beat() }
        return answer
    }

    private func obey(_ command: OperatorCommand, _ operation: Operation) async throws(OperationRefusal)
        -> String
    {
        guard let verb = OperatorVerb(rawValue: command.verb) else {
            throw OperationRefusal(
                "this coordinator does not know \(command.verb); is it older than the command?")
        }
        guard !isStopping || verb == .status else { throw OperationRefusal("this host is stopping") }
        let words = OperatorWords(command.arguments)
        let isDry = command.isDryRun
        switch verb {
        case .look: return await look()
        case .status: return String(decoding: statusLine, as: UTF8.self)
        case .scale: return try await scale(try words.first(DesiredWorkers.words), isDry, operation)
        case .quiet: return try await quiet(try worker(words), isDry, operation)
        case .resume: return try await resume(try worker(words), isDry)
        case .drain: return try await drain(try worker(words), isDry, operation)
        case .stop: return try await stop(try worker(words), isDry, operation)
        case .restart:
            return try await restart(try worker(words), isRolling: words.has("rolling"), isDry, operation)
        case .upgrade:
            guard !words.has("binary") else {
                throw OperationRefusal(
                    "no operator names a program to run: set program in this host's configuration, and reload"
                )
            }
            return try await words.has("abort") ? abortUpgrade(isDry) : upgrade(isDry, operation)
        case .reload: return try await reload(isDry, operation)
        case .takeover:
            return try await takeOver(
                try words.first("app"), try words.number(1, "shard"), isForced: words.has("force"), isDry)
        case .kill: return try kill(try worker(words), hasTrace: words.has("abrt"), isDry)
        case .purge: return try purge(isDry)
        case .dump: return try dump(try worker(words), isDry)
        case .logLevel: return try setLogLevel(try words.first("level"), isDry)
        }
    }

    /// One change of the workers or the leases at a time.
    func alone(
        _ name: String, _ body: @Loop () async throws(OperationRefusal) -> String
    ) async throws(OperationRefusal) -> String {
        if let busyWith { throw OperationRefusal("\(busyWith) is under way; try again when it is done") }
        busyWith = name
        defer { busyWith = nil }
        return try await body()
    }

    /// The worker that is meant; nil: the host.
    private func worker(_ words: OperatorWords) throws(OperationRefusal) -> WorkerSlot? {
        guard let text = words.words.first else { return nil }
        guard let index = Int(foreign: text), index >= 0, index < slots.count,
            index < placement.size || slots[index].pid > 0
        else {
            let known = slots.filter { $0.index < placement.size }.map { "\($0.index)" }.joined(
                separator: " ")
            throw OperationRefusal("there is no worker \(text) on \(configuration.host): it has \(known)")
        }
        return slots[index]
    }

    // MARK: Looking

    /// Follows at once what is stored in Redis.
    private func look() async -> String {
        await follow()
        for app in apps.values { await app.credentials.look() }
        return "looked at what is stored"
    }

    /// Reads what operators want to last, and does it.
    func follow() async {
        let wishes: [String: String]
        do throws(RedisError) { wishes = try await registry.desired() } catch {
            return log.debug("wishes not read", metadata: ["error": "\(error)"])
        }
        followPins(wishes)
        let scale = wishes["scale:" + configuration.host]
        guard scale != followedScale, busyWith == nil else { return }
        followedScale = scale
        let wish = scale.flatMap { DesiredWorkers($0) }
        if scale != nil, wish == nil {
            refused(at: "\(FarmKeys.desired) scale:\(configuration.host)", DesiredWorkers.words)
        }
        setStaff(wish ?? configuredStaff, reason: .operator)
    }

    private func followPins(_ wishes: [String: String]) {
        let pins = Pins(wishes)
        guard pins != membership.pins else { return }
        membership.pins = pins
        for (name, app) in apps {
            app.leases.shares = membership.shares(of: name)
            app.leases.wake()
            handOverOthers(app)
        }
        leaseBell.ring()
    }

    private func kill(
        _ slot: WorkerSlot?, hasTrace: Bool, _ isDry: Bool
    ) throws(OperationRefusal) -> String {
        guard let slot else { throw OperationRefusal("which worker? as in HOST/0") }
        guard slot.pid > 0 else { throw OperationRefusal("worker \(slot.index) has no process now") }
        let how = hasTrace ? "SIGABRT, then SIGKILL" : "SIGKILL"
        if isDry { return "would end process \(slot.pid) of worker \(slot.index) by \(how)" }
        let pid = slot.pid
        slot.slay(hasTrace: hasTrace)
        return "process \(pid) of worker \(slot.index) is ended by \(how)"
    }

    private func purge(_ isDry: Bool) throws(OperationRefusal) -> String {
        let orphans = Orphans.of(lock: configuration.stateDirectory + "/coordinator.lock", except: getpid())
        guard !orphans.isEmpty else { return "no process of this farm is without its coordinator" }
        let list = orphans.map { "\($0)" }.joined(separator: ", ")
        if isDry { return "would end \(list)" }
        for pid in orphans { Orphans.end(pid) }
        return "ended \(list)"
    }

    private func dump(_ slot: WorkerSlot?, _ isDry: Bool) throws(OperationRefusal) -> String {
        if let slot, slot.pid == 0 { throw OperationRefusal("worker \(slot.index) has no process now") }
        if isDry { return "would write what is known to the log" }
        for slot in slot.map({ [$0] }) ?? slots where slot.pid > 0 { slot.tell(.dump) }
        if slot == nil { logState() }
        return "see the log"
    }

    /// What this process knows, in the log.
    func logState() {
        log.notice("dump", metadata: ["host": "\(String(decoding: statusLine, as: UTF8.self))"])
        for (name, app) in apps.sorted(by: { $0.key < $1.key }) {
            log.notice(
                "dump",
                metadata: [
                    "app": "\(name)", "shards": "\(app.leases.served.count)",
                    "intake": "\(app.leases.intake != nil)", "leaving": "\(app.leases.leaving.count)",
                    "paused": "\(app.credentials.pauseReason ?? "")",
                ])
        }
    }

    private func setLogLevel(_ text: String, _ isDry: Bool) throws(OperationRefusal) -> String {
        guard let level = Logger.Level(rawValue: text) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw OperationRefusal("unknown level \"\(text)\"; use \(levels)")
        }
        if isDry { return "would log from \(text) on" }
        options.setLogLevel(level)
        logLevel = text
        for slot in slots { slot.tell(.logLevel(text)) }
        intake?.tell(.logLevel(text))
        return "logs from \(text) on"
    }
}

/// The words behind a verb: what is meant, and options.
struct OperatorWords {
    let words: [String]
    /// Their names.
    private let options: Set<String>

    /// Options are `--name` or `--name=value`.
    init(_ arguments: [String]) {
        words = arguments.filter { !$0.hasPrefix("--") }
        options = Set(
            arguments.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2).prefix { $0 != "=" }) })
    }

    func has(_ option: String) -> Bool { options.contains(option) }

    func first(_ what: String) throws(OperationRefusal) -> String { try word(0, what) }

    func word(_ index: Int, _ what: String) throws(OperationRefusal) -> String {
        guard words.count > index else { throw OperationRefusal("\(what) is missing") }
        return words[index]
    }

    func number(_ index: Int, _ what: String) throws(OperationRefusal) -> Int {
        let text = try word(index, what)
        guard let number = Int(foreign: text), number >= 0 else {
            throw OperationRefusal("\(what): \(text) is no number")
        }
        return number
    }
}
