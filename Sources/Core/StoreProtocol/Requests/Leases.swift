package import RedisProtocol

/// Acquires the free ones of the requested fields, and also returns the requested fields that this nonce already owns.
package struct AcquireLeases: Request {
    /// The result for one field.
    package enum Answer: Equatable, Sendable {
        case ours(FenceToken)
        /// Another owner's lease is valid for this time.
        case taken(for: Duration)
        /// The field has no owner, and the call did not acquire it, because it is in ``others``.
        case free
    }

    package struct Reply: Equatable, Sendable {
        /// When the leases end, in milliseconds of Redis's clock.
        package let leaseEnds: Int64
        /// The results, in the order of ``AcquireLeases/all``.
        package let answers: [Answer]
    }

    package static var script: Script? { .lease }

    /// A unique name that each coordinator process generates when it starts.
    package var nonce: String
    package var host: String
    package var lease: Duration
    /// The nonce of a coordinator that has exited, or the part of that nonce before the dot; "" if there is no such coordinator.
    /// The call acquires all requested fields of this nonce, even those in ``others``.
    package var predecessor: String
    package var fields: [LeaseField]
    /// Fields whose owner the call reads but that it does not acquire, even if they are free.
    package var others: [LeaseField]
    /// Fields that this call acquires even from a live owner.
    package var takenFromOwner: [LeaseField]

    package init(
        nonce: String, host: String, lease: Duration, predecessor: String = "", fields: [LeaseField],
        others: [LeaseField] = [], takenFromOwner: [LeaseField] = []
    ) {
        (self.nonce, self.host, self.lease) = (nonce, host, lease)
        (self.predecessor, self.fields, self.others) = (predecessor, fields, others)
        self.takenFromOwner = takenFromOwner
    }

    /// All fields, in the order of the results.
    package var all: [LeaseField] { fields + others + takenFromOwner }

    package var words: [any CommandArgument] {
        [
            ScriptKeys.prefix, "acquire", nonce, host, lease, predecessor, ArgumentList(fields),
            ArgumentList(others.map { "?" + $0.name }), ArgumentList(takenFromOwner.map { "!" + $0.name }),
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let ends = try reader.integer()
        var answers: [Answer] = []
        while !reader.isAtEnd {
            let answer = try reader.next()
            if let remaining = answer.integer {
                answers.append(remaining > 0 ? .taken(for: .milliseconds(remaining)) : .free)
            } else if let token = answer.bytes {
                answers.append(.ours(FenceToken(token)))
            } else {
                throw .unexpectedReply("\(Self.self)")
            }
        }
        return Reply(leaseEnds: Int64(ends), answers: answers)
    }
}

/// Extends the leases of this nonce, and returns for each field whether this nonce still owns it.
package struct RenewLeases: Request {
    package static var script: Script? { .lease }

    package var nonce: String
    package var host: String
    package var lease: Duration
    package var fields: [LeaseField]

    package init(nonce: String, host: String, lease: Duration, fields: [LeaseField]) {
        (self.nonce, self.host, self.lease, self.fields) = (nonce, host, lease, fields)
    }

    package var words: [any CommandArgument] {
        [ScriptKeys.prefix, "renew", nonce, host, lease, "", ArgumentList(fields)]
    }

    /// Whether this nonce still owns each field, in the order of the fields.
    package static func read(_ value: RESPValue) throws(StoreError) -> [Bool] {
        guard let parts = value.array, !parts.isEmpty else { throw .unexpectedReply("\(Self.self)") }
        return parts.dropFirst().map { $0.integer == 1 }
    }
}

/// Releases fields, so that other hosts need not wait for the leases to expire.
package struct ReleaseLeases: Request {
    package static var script: Script? { .lease }

    package var nonce: String
    /// The fields to release with their fencing tokens. A delayed call does not release a field that was acquired again, because
    /// then the field's token differs. Nil releases all fields.
    package var tokens: [LeaseField: FenceToken]?

    package init(nonce: String, tokens: [LeaseField: FenceToken]?) {
        (self.nonce, self.tokens) = (nonce, tokens)
    }

    package var words: [any CommandArgument] {
        let tokens = (tokens ?? [:]).sorted { $0.key.name < $1.key.name }
        return [
            ScriptKeys.prefix, self.tokens == nil ? "leave" : "release", nonce, "", 0, "",
            ArgumentList(tokens.map { ArgumentList([$0.key, $0.value]) }),
        ]
    }

    /// The number of these fields that this nonce owned.
    package static func read(_ value: RESPValue) throws(StoreError) -> Int {
        var reader = try ReplyReader(value, Self.self)
        return try reader.integer()
    }
}

/// Reads the owner of each field.
package struct ReadOwners: Request {
    /// The owned fields, without released fields.
    package struct Reply: Equatable, Sendable {
        package var fields: [LeaseField: FenceToken] = [:]
        /// The lease end of each nonce, in milliseconds of Redis's clock.
        package var leaseEnds: [String: Int64] = [:]

        package init() {}
    }

    package init() {}

    package var words: [any CommandArgument] { ["HGETALL", AppKey(\.owners)] }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        var reply = Reply()
        while !reader.isAtEnd {
            let name = try reader.text()
            let bytes = try reader.bytes()
            let token = FenceToken(bytes)
            if name.hasPrefix("until:") {
                reply.leaseEnds[String(name.dropFirst(6))] = Int64(
                    foreign: String(decoding: bytes, as: UTF8.self))
            } else if token.isFree {
                continue
            } else if name == "intake" {
                reply.fields[.intake] = token
            } else if let shard = Int(foreign: name) {
                reply.fields[.shard(shard)] = token
            }
        }
        return reply
    }
}
