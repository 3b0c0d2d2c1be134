import ControlChannel
import EventLoop
import FarmConfiguration
import Foundation
import PushModel
import RedisClient
import StoreProtocol

/// Sends an operator's command to the coordinators and shows their replies.
@Loop struct OperatorClient {
    let configuration: Configuration
    let options: OperatorOptions
    let console: Console
    /// How long to wait for replies if the user does not set `--timeout`.
    var defaultTimeout = Duration.seconds(60)

    /// The replies of the hosts, and the hosts that did not reply.
    struct Outcome {
        var command: OperatorCommand
        var replies: [OperatorReply] = []
        var silent: [String]
        /// Hosts that got no command, because the command failed on an earlier host.
        var unnotified: [String] = []
        /// Whether the operator interrupted the wait.
        var isInterrupted = false

        /// Whether every notified host has carried out the command.
        var isDone: Bool { replies.allSatisfy { $0.state == .done } && silent.isEmpty && !isInterrupted }
    }

    /// - Parameters:
    ///   - host: the host, or nil for all living hosts.
    ///   - oneByOne: whether a host gets the command only after the previous host is done.
    func carryOut(
        _ verb: OperatorVerb, _ arguments: [String] = [], on host: String? = nil, oneByOne: Bool = false
    ) async throws {
        if options.local { return try report(try await locally(verb, arguments, host)) }
        let client: FarmClient
        do { client = try await FarmClient.connect(configuration) } catch {
            guard error.status == .temporary, host == nil || host == configuration.host,
                LocalSocket.accepts(socket)
            else { throw error }
            console.note(
                "\(error.message); sent only to this machine's coordinator, over its control socket \(socket)"
            )
            return try report(try await locally(verb, arguments, host))
        }
        defer { client.close() }
        let live = try await Self.liveHosts(client)
        if let host { try Self.requireLive(host, among: live) }
        guard !live.isEmpty else { throw CommandFailure.failed("no coordinator is running") }
        let rounds = oneByOne && host == nil ? live.map { [$0] } : [host.map { [$0] } ?? live]
        var all: Outcome?
        for (number, hosts) in rounds.enumerated() {
            let one = try await ask(client, verb, arguments, rounds.count > 1 ? hosts[0] : host, hosts)
            var sum = all ?? one
            if all != nil {
                sum.replies += one.replies
                sum.silent += one.silent
                sum.isInterrupted = one.isInterrupted
            }
            all = sum
            if one.isDone { continue }
            // After a failure on one host, the later hosts do not get the command.
            all?.unnotified = rounds[(number + 1)...].flatMap(\.self)
            break
        }
        if let all { try report(all) }
    }

    static func liveHosts(_ client: FarmClient) async throws(CommandFailure) -> [String] {
        try await client.ask { farmRedis throws(RedisError) in try await farmRedis.hosts() }
            .filter { $0.endsIn > .zero }.map(\.name)
    }

    nonisolated static func requireLive(_ host: String, among live: [String]) throws(CommandFailure) {
        guard !live.contains(host) else { return }
        let known =
            live.isEmpty
            ? "no coordinator is running" : "living hosts: " + live.joined(separator: ", ")
        throw .failed("there is no host \(host); \(known)")
    }

    // MARK: Commands over Redis

    func ask(
        _ client: FarmClient, _ verb: OperatorVerb, _ arguments: [String], _ host: String?, _ hosts: [String]
    ) async throws(CommandFailure) -> Outcome {
        let command = command(verb, arguments, host)
        let wakeUp = AsyncEvent()
        let subscriber = RedisSubscriber(
            client.redis.settings, channels: [Array(FarmKeys.replies.utf8)])
        subscriber.onReady = { wakeUp.signal() }
        subscriber.onMessage = { _, message in if message.elementsEqual(command.id.utf8) { wakeUp.signal() } }
        subscriber.start()
        defer { subscriber.close() }
        let end = EndSignal()
        let watch = Loop.task {
            await end.wait()
            wakeUp.signal()
        }
        defer { watch.cancel() }
        _ = try await client.ask { farmRedis throws(RedisError) in try await farmRedis.put(command) }
        var outcome = Outcome(command: command, silent: hosts)
        var progress = TerminalLine(quiet: console.json)
        defer { progress.finish() }
        let start = ContinuousClock.now
        let limit = options.wait ? options.timeout?.duration ?? defaultTimeout : .seconds(5)
        while ContinuousClock.now < start + limit {
            outcome.replies = try await client.ask { farmRedis throws(RedisError) in
                try await farmRedis.replies(to: command.id)
            }
            let enough = outcome.replies.filter { !options.wait || $0.isLast }.map(\.host)
            outcome.silent = hosts.filter { !enough.contains($0) }
            progress.show(Self.progress(of: outcome.replies, by: hosts.count))
            if outcome.silent.isEmpty { break }
            if end.isGiven {
                outcome.isInterrupted = true
                break
            }
            // A notification may be lost, so the loop reads the replies at least once a second.
            await wakeUp.wait(atMost: min(.seconds(1), start + limit - .now))
        }
        return outcome
    }

    /// The progress text: `2 of 3 hosts done · gamma: 1 of 2 workers restarted`.
    private static func progress(of replies: [OperatorReply], by count: Int) -> String {
        let done = replies.count { $0.isLast }
        let working = replies.filter { !$0.isLast && !$0.text.isEmpty }.map {
            "\(PlainText.of($0.host)): \(PlainText.of($0.text, limit: 300))"
        }
        return (["\(done) of \(count) host\(count == 1 ? "" : "s") done"] + working).joined(separator: " · ")
    }

    private func command(_ verb: OperatorVerb, _ arguments: [String], _ host: String?) -> OperatorCommand {
        OperatorCommand(verb, arguments, host: host, isDryRun: options.dryRun)
    }

    static var issuer: String {
        "\(ProcessEnvironment.variables["SUDO_USER"] ?? NSUserName())@\(Self.machine)"
    }

    private static var machine: String { ProcessInfo.processInfo.hostName }

    // MARK: Commands over the control socket

    private var socket: String { configuration.stateDirectory + "/control.sock" }

    private func locally(
        _ verb: OperatorVerb, _ arguments: [String], _ host: String?
    ) async throws(CommandFailure) -> Outcome {
        let command = command(verb, arguments, host)
        let reply = try await LocalCoordinator.carryOut(
            command, at: socket, within: options.timeout?.duration ?? defaultTimeout, isPatient: options.wait)
        return Outcome(
            command: command, replies: reply.map { [$0] } ?? [],
            silent: reply == nil ? [configuration.host] : [])
    }

    // MARK: Messages

    private func report(_ outcome: Outcome) throws {
        console.show(outcome.json, outcome.text(console.style))
        let last = outcome.replies
        if last.contains(where: { $0.state == .refused || $0.state == .failed }) {
            let isPart = last.contains { $0.state == .done || $0.state == .failed }
            throw CommandFailure(status: isPart ? .partly : .failed, message: "")
        }
        guard outcome.silent.isEmpty, outcome.unnotified.isEmpty else {
            let why =
                outcome.isInterrupted
                ? "it continues; pushfarm events --operations shows the result"
                : "not all hosts are done; pushfarm events --operations shows the result"
            throw CommandFailure(status: .partly, message: why)
        }
    }
}

extension OperatorCommand {
    /// A new command of this operator.
    @Loop init(_ verb: OperatorVerb, _ arguments: [String] = [], host: String?, isDryRun: Bool = false) {
        self.init(
            id: UUID().uuidString.lowercased(), issuer: OperatorClient.issuer, host: host,
            verb: verb.rawValue, arguments: arguments, isDryRun: isDryRun)
    }
}

extension OperatorClient.Outcome {
    var json: JSONValue {
        .object([
            "id": .string(command.id), "command": .string(command.typed),
            "done": .number(replies.count { $0.state == .done }),
            "of": .number(Set(replies.map(\.host) + silent + unnotified).count),
            "silent": .strings(silent), "untold": .strings(unnotified),
            "hosts": hostsJSON,
        ])
    }

    var hostsJSON: JSONValue {
        .array(
            replies.map {
                .object([
                    "host": .string($0.host), "state": .string($0.state.rawValue), "text": .string($0.text),
                ])
            })
    }

    func text(_ style: TextStyle) -> String {
        var table = Table(["HOST": .left, "STATE": .left, "ANSWER": .left])
        for reply in replies {
            let paint: Paint? =
                switch reply.state {
                case .done: .green
                case .refused, .failed: .red
                case .accepted, .working: .yellow
                }
            table.add(.init(reply.host), .init(reply.state.rawValue, paint), .init(reply.text))
        }
        for host in silent where !replies.contains(where: { $0.host == host }) {
            table.add(.init(host), .init("silent", .yellow), .init("no reply"))
        }
        for host in unnotified {
            table.add(
                .init(host), .init("untold", .yellow),
                .init("not notified, because an earlier host is not done")
            )
        }
        return table.text(style)
    }
}
