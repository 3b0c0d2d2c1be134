package import RedisProtocol

/// Acquires free fields of an app, and returns the fields that this nonce already owns.
package struct AcquireLeases: Request {
    /// The result for one field.
    package enum Answer: Equatable, Sendable {
        case ours(FenceToken)
        /// Another owner's lease is valid for this time.
        case taken(for: Duration)
        /// The field has no owner, and the caller asked not to acquire it.
        case free
    }

    package struct Reply: Equatable, Sendable {
        /// When the leases end, in milliseconds of Redis's clock.
        package let leaseEnds: Int64
        /// The results, in the order of ``AcquireLeases/all``.
        package let answers: [Answer]
    }

    package static var script: Script? { .lease }

    /// A unique name that each coordinator process makes at its start.
    package var nonce: String
    package var host: String
    package var lease: Duration
    /// The nonce of a coordinator that has exited, its part before the dot, or "". Its fields are acquired, also when they are
    /// in ``others``.
    package var predecessor: String
    package var fields: [LeaseField]
    /// Fields that this call does not acquire even if they are free.
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

    package var words: [any CommandWord] {
        [
            ScriptKeys.prefix, "acquire", nonce, host, lease, predecessor, WordList(fields),
            WordList(others.map { "?" + $0.name }), WordList(takenFromOwner.map { "!" + $0.name }),
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

/// Extends the leases of this nonce, and returns which fields this nonce still owns.
package struct RenewLeases: Request {
    package static var script: Script? { .lease }

    package var nonce: String
    package var host: String
    package var lease: Duration
    package var fields: [LeaseField]

    package init(nonce: String, host: String, lease: Duration, fields: [LeaseField]) {
        (self.nonce, self.host, self.lease, self.fields) = (nonce, host, lease, fields)
    }

    package var words: [any CommandWord] {
        [ScriptKeys.prefix, "renew", nonce, host, lease, "", WordList(fields)]
    }

    /// For each field, in order: whether this nonce still owns it.
    package static func read(_ value: RESPValue) throws(StoreError) -> [Bool] {
        guard let parts = value.array, !parts.isEmpty else { throw .unexpectedReply("\(Self.self)") }
        return parts.dropFirst().map { $0.integer == 1 }
    }
}

/// Releases fields, so that other hosts need not wait for the leases to expire.
package struct ReleaseLeases: Request {
    package static var script: Script? { .lease }

    package var nonce: String
    /// The fields to release with their fencing tokens, so that a late call releases nothing acquired since. Nil releases all.
    package var tokens: [LeaseField: FenceToken]?

    package init(nonce: String, tokens: [LeaseField: FenceToken]?) {
        (self.nonce, self.tokens) = (nonce, tokens)
    }

    package var words: [any CommandWord] {
        let tokens = (tokens ?? [:]).sorted { $0.key.name < $1.key.name }
        return [
            ScriptKeys.prefix, self.tokens == nil ? "leave" : "release", nonce, "", 0, "",
            WordList(tokens.map { WordList([$0.key, $0.value]) }),
        ]
    }

    /// How many of the fields this nonce owned.
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

    package var words: [any CommandWord] { ["HGETALL", AppKey(\.owners)] }

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
