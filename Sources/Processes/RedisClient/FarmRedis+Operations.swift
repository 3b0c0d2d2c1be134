package import PushModel
import RedisProtocol
package import StoreProtocol

/// Stores operators' commands, and the hosts' replies to them.
extension FarmRedis {
    /// An entry of the stream of operations: a command, or a host's last reply to a command.
    package struct OperationEntry: Equatable, Sendable {
        /// The id of the stream entry.
        package let position: String
        package let fields: [String: String]

        /// The command; nil for a reply or an unreadable entry.
        package var command: OperatorCommand? {
            guard let id = fields["id"], let verb = fields["verb"] else { return nil }
            let arguments = (fields["arguments"] ?? "").split(
                separator: "\n", omittingEmptySubsequences: false)
            let host = fields["host"] ?? "*"
            return OperatorCommand(
                id: id, issuer: fields["by"] ?? "", host: host == "*" ? nil : host, verb: verb,
                arguments: fields["arguments"] == nil ? [] : arguments.map(String.init),
                isDryRun: fields["dry_run"] == "1")
        }
    }

    /// Whether a host may run a command: `granted` if it may, `seen` if it has already claimed the command, `late` if
    /// the command is too old.
    package enum CommandClaim: Sendable { case granted, seen, late }

    /// How long a command is valid. After this time, no host starts to run the command.
    package static let operationLife = Duration.seconds(30)

    /// Adds a command for the coordinators to the stream of operations.
    /// - Returns: false if a command with this id was already added.
    package func put(_ command: OperatorCommand) async throws(RedisError) -> Bool {
        var words = [
            "put", "\(Self.operationLife.wholeMilliseconds)", FarmKeys.coordinators, "id", command.id, "by",
            command.issuer, "host", command.host ?? "*", "verb", command.verb,
        ]
        if !command.arguments.isEmpty {
            words += ["arguments", command.arguments.joined(separator: "\n")]
        }
        if command.isDryRun { words += ["dry_run", "1"] }
        return try await operate(command.id, words).integer == 1
    }

    /// Records in the audit log what an operator's command did directly in Redis, without a coordinator. Coordinators
    /// do not run the recorded command.
    /// - Parameter at: the time in Unix milliseconds.
    package func note(
        by issuer: String, verb: String, arguments: [String], text: String, at moment: Int64
    ) async throws(RedisError) {
        var words = ["MAXLEN", "~", "10000", "*", "at", "\(moment)", "by", issuer, "verb", verb]
        if !arguments.isEmpty { words += ["arguments", arguments.joined(separator: "\n")] }
        var command = RESPCommand("XADD", FarmKeys.operations)
        for word in words + ["text", text] { command.append(word) }
        _ = try await connection.call(command)
    }

    /// Claims a command for a host. Call this function before the host runs the command, so that the host runs the
    /// command only once.
    package func claim(_ command: OperatorCommand, host: String) async throws(RedisError) -> CommandClaim {
        switch try await operate(command.id, ["claim", host]).integer {
        case 1: .granted
        case 0: .seen
        default: .late
        }
    }

    package func storeReply(_ reply: OperatorReply, to id: String) async throws(RedisError) {
        _ = try await operate(
            id,
            [
                "answer", reply.host, reply.state.rawValue, reply.text, reply.isLast ? "1" : "0",
                FarmKeys.replies, id,
            ])
    }

    /// The replies to a command so far, by host.
    package func replies(to id: String) async throws(RedisError) -> [OperatorReply] {
        let fields = try await connection.call(RESPCommand("HGETALL", FarmKeys.operation(id))).fields
        return fields.compactMap { name, value in
            guard name.hasPrefix("host:") else { return nil }
            let parts = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard let state = parts.first.flatMap({ OperatorReply.State(rawValue: String($0)) }) else {
                return nil
            }
            return OperatorReply(
                host: String(name.dropFirst(5)), state: state, text: parts.count > 1 ? String(parts[1]) : "")
        }.sorted { $0.host < $1.host }
    }

    /// Reads the entries of the stream of operations after a position, oldest first.
    package func operations(after position: String, count: Int) async throws(RedisError) -> [OperationEntry] {
        let reply = try await connection.call(
            RESPCommand("XRANGE", FarmKeys.operations, "(" + position, "+", "COUNT", "\(count)"))
        return (reply.array ?? []).compactMap { entry in
            guard let parts = entry.array, let id = parts.first?.text else { return nil }
            return OperationEntry(position: id, fields: parts.last?.fields ?? [:])
        }
    }

    private func operate(_ id: String, _ words: [String]) async throws(RedisError) -> RESPValue {
        try await run(.operate, keys: 2, [FarmKeys.operations, FarmKeys.operation(id)] + words)
    }

    // MARK: Desired state

    /// Reads the desired state: values by name. A name has the form `scale:HOST` or `pin:APP:NN`.
    package func desired() async throws(RedisError) -> [String: String] {
        try await connection.call(RESPCommand("HGETALL", FarmKeys.desired)).fields
    }

    /// - Parameter value: the value to store; nil removes the entry.
    package func desire(_ name: String, _ value: String?) async throws(RedisError) {
        guard let value else {
            _ = try await connection.call(RESPCommand("HDEL", FarmKeys.desired, name))
            return
        }
        _ = try await connection.call(RESPCommand("HSET", FarmKeys.desired, name, value))
    }
}
