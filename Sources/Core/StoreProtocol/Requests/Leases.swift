package import RedisProtocol

/// Takes fields of an app that are free, and finds again those that this nonce has.
package struct AcquireLeases: Request {
    /// The result for one field.
    package enum Answer: Equatable, Sendable {
        case ours(FenceToken)
        /// Another owner's lease has so long to go.
        case taken(for: Duration)
        /// Without an owner, and not to be taken.
        case free
    }

    package struct Reply: Equatable, Sendable {
        /// Redis's milliseconds.
        package let leaseEnds: Int64
        /// In the order of ``AcquireLeases/all``.
        package let answers: [Answer]
    }

    package static var script: Script? { .lease }

    /// Each coordinator process makes a new one.
    package var nonce: String
    package var host: String
    package var lease: Duration
    /// The nonce of a coordinator that is known to be gone, or its part before the dot, or "": its fields are taken, also
    /// those of ``others``.
    package var predecessor: String
    package var fields: [LeaseField]
    /// Fields that are not taken when they are free.
    package var others: [LeaseField]
    /// Fields that are taken even from a living owner.
    package var seized: [LeaseField]

    package init(
        nonce: String, host: String, lease: Duration, predecessor: String = "", fields: [LeaseField],
        others: [LeaseField] = [], seized: [LeaseField] = []
    ) {
        (self.nonce, self.host, self.lease) = (nonce, host, lease)
        (self.predecessor, self.fields, self.others) = (predecessor, fields, others)
        self.seized = seized
    }

    /// In the order of the answers.
    package var all: [LeaseField] { fields + others + seized }

    package var words: [any CommandWord] {
        [
            ScriptKeys.prefix, "acquire", nonce, host, lease, predecessor, WordList(fields),
            WordList(others.map { "?" + $0.name }), WordList(seized.map { "!" + $0.name }),
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let ends = try reader.integer()
        var answers: [Answer] = []
        while !reader.isAtEnd {
            let answer = try reader.next()
            if let left = answer.integer {
                answers.append(left > 0 ? .taken(for: .milliseconds(left)) : .free)
            } else if let token = answer.bytes {
                answers.append(.ours(FenceToken(token)))
            } else {
                throw .unexpectedReply("\(Self.self)")
            }
        }
        return Reply(leaseEnds: Int64(ends), answers: answers)
    }
}

/// Extends this nonce's leases, and tells which fields are still ours.
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

    /// In the order of the fields: whether it is still ours.
    package static func read(_ value: RESPValue) throws(StoreError) -> [Bool] {
        guard let parts = value.array, !parts.isEmpty else { throw .unexpectedReply("\(Self.self)") }
        return parts.dropFirst().map { $0.integer == 1 }
    }
}

/// Gives fields back: others need not wait for the lease to end.
package struct ReleaseLeases: Request {
    package static var script: Script? { .lease }

    package var nonce: String
    /// Nil gives everything back, and ends the lease. By token: a call that comes late takes nothing that was acquired since.
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

    /// How many fields were ours.
    package static func read(_ value: RESPValue) throws(StoreError) -> Int {
        var reader = try ReplyReader(value, Self.self)
        return try reader.integer()
    }
}

/// Reads who owns what.
package struct ReadOwners: Request {
    /// Owned fields; those given back are left out.
    package struct Reply: Equatable, Sendable {
        package var fields: [LeaseField: FenceToken] = [:]
        /// Redis's milliseconds, by nonce.
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
