package import PushModel
import RedisProtocol
package import StoreProtocol

/// Operators' commands and the hosts' answers.
extension FarmRegistry {
    /// An entry of the stream of operations: a command, or a host's last answer to one.
    package struct Operation: Equatable, Sendable {
        /// Of the entry.
        package let position: String
        package let fields: [String: String]

        /// Nil for an answer, and for what cannot be read.
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

    /// What came of a claim.
    package enum Claim: Sendable { case granted, seen, late }

    /// A command that is not begun within this time is not begun at all.
    package static let operationLife = Duration.seconds(30)

    /// Puts a command before the coordinators.
    /// - Returns: false when its id was put before.
    package func put(_ command: OperatorCommand) async throws(RedisError) -> Bool {
        var words = [
            "put", "\(Self.operationLife.wholeMilliseconds)", FarmKeys.commands, "id", command.id, "by",
            command.issuer, "host", command.host ?? "*", "verb", command.verb,
        ]
        if !command.arguments.isEmpty {
            words += ["arguments", command.arguments.joined(separator: "\n")]
        }
        if command.isDryRun { words += ["dry_run", "1"] }
        return try await operate(command.id, words).integer == 1
    }

    /// Notes what an operator did without the coordinators: they pass over it.
    /// - Parameter at: Unix milliseconds.
    package func note(
        by issuer: String, verb: String, arguments: [String], text: String, at moment: Int64
    ) async throws(RedisError) {
        var words = ["MAXLEN", "~", "10000", "*", "at", "\(moment)", "by", issuer, "verb", verb]
        if !arguments.isEmpty { words += ["arguments", arguments.joined(separator: "\n")] }
        var command = RESPCommand("XADD", FarmKeys.operations)
        for word in words + ["text", text] { command.append(word) }
        _ = try await connection.call(command)
    }

    /// Takes a command for a host.
    package func claim(_ command: OperatorCommand, host: String) async throws(RedisError) -> Claim {
        switch try await operate(command.id, ["claim", host]).integer {
        case 1: .granted
        case 0: .seen
        default: .late
        }
    }

    package func answer(_ id: String, _ answer: OperatorAnswer) async throws(RedisError) {
        _ = try await operate(
            id,
            [
                "answer", answer.host, answer.state.rawValue, answer.text, answer.isLast ? "1" : "0",
                FarmKeys.answers, id,
            ])
    }

    /// The answers so far, by host.
    package func answers(to id: String) async throws(RedisError) -> [OperatorAnswer] {
        let fields = try await connection.call(RESPCommand("HGETALL", FarmKeys.operation(id))).fields
        return fields.compactMap { name, value in
            guard name.hasPrefix("host:") else { return nil }
            let parts = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard let state = parts.first.flatMap({ OperatorAnswer.State(rawValue: String($0)) }) else {
                return nil
            }
            return OperatorAnswer(
                host: String(name.dropFirst(5)), state: state, text: parts.count > 1 ? String(parts[1]) : "")
        }.sorted { $0.host < $1.host }
    }

    /// Commands and last answers behind a position, the oldest first.
    package func operations(after position: String, count: Int) async throws(RedisError) -> [Operation] {
        let answer = try await connection.call(
            RESPCommand("XRANGE", FarmKeys.operations, "(" + position, "+", "COUNT", "\(count)"))
        return (answer.array ?? []).compactMap { entry in
            guard let parts = entry.array, let id = parts.first?.text else { return nil }
            return Operation(position: id, fields: parts.last?.fields ?? [:])
        }
    }

    private func operate(_ id: String, _ words: [String]) async throws(RedisError) -> RESPValue {
        try await run(.operate, keys: 2, [FarmKeys.operations, FarmKeys.operation(id)] + words)
    }

    // MARK: What operators want to last

    /// By name: `scale:HOST`, `pin:APP:NN`.
    package func desired() async throws(RedisError) -> [String: String] {
        try await connection.call(RESPCommand("HGETALL", FarmKeys.desired)).fields
    }

    /// - Parameter value: nil takes it out.
    package func desire(_ name: String, _ value: String?) async throws(RedisError) {
        guard let value else {
            _ = try await connection.call(RESPCommand("HDEL", FarmKeys.desired, name))
            return
        }
        _ = try await connection.call(RESPCommand("HSET", FarmKeys.desired, name, value))
    }
}
