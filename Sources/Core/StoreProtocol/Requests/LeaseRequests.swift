package import RedisProtocol

/// Acquires the requested leases that are free. The reply also contains the requested leases that this nonce already owns.
package struct AcquireLeases: Request {
    /// The result for one lease.
    package enum LeaseState: Equatable, Sendable {
        case ours(FenceToken)
        /// Another nonce owns the lease. The lease ends after this time if it is not renewed.
        case taken(for: Duration)
        /// The lease has no owner. The call did not acquire it, because the lease is in ``AcquireLeases/others``.
        case free
    }

    package struct Reply: Equatable, Sendable {
        /// When the leases of this nonce end unless it renews them, in milliseconds of Redis's clock.
        package let leaseEnds: Int64
        /// The results, in the order of ``AcquireLeases/all``.
        package let states: [LeaseState]
    }

    package static var script: Script? { .lease }

    /// A unique name that each coordinator process generates when it starts.
    package var nonce: String
    package var host: String
    package var lifetime: Duration
    /// The nonce of a coordinator that has exited, or the part of that nonce before the dot, which stands for all nonces of that
    /// coordinator; "" if there is no such coordinator. The call acquires all requested leases that this predecessor owns, even
    /// leases in ``others``.
    package var predecessor: String
    package var leases: [LeaseID]
    /// Leases whose owners the call reads. The call does not acquire these leases, even if they are free.
    package var others: [LeaseID]
    /// Leases that the call acquires even if their owners are live.
    package var takenFromOwner: [LeaseID]

    package init(
        nonce: String, host: String, lifetime: Duration, predecessor: String = "", leases: [LeaseID],
        others: [LeaseID] = [], takenFromOwner: [LeaseID] = []
    ) {
        (self.nonce, self.host, self.lifetime) = (nonce, host, lifetime)
        (self.predecessor, self.leases, self.others) = (predecessor, leases, others)
        self.takenFromOwner = takenFromOwner
    }

    /// All leases, in the order of the results.
    package var all: [LeaseID] { leases + others + takenFromOwner }

    package var words: [any CommandArgument] {
        [
            ScriptKeys.prefix, "acquire", nonce, host, lifetime, predecessor, ArgumentList(leases),
            ArgumentList(others.map { "?" + $0.name }), ArgumentList(takenFromOwner.map { "!" + $0.name }),
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let ends = try reader.integer()
        var states: [LeaseState] = []
        while !reader.isAtEnd {
            let state = try reader.next()
            if let remaining = state.integer {
                states.append(remaining > 0 ? .taken(for: .milliseconds(remaining)) : .free)
            } else if let token = state.bytes {
                states.append(.ours(FenceToken(token)))
            } else {
                throw .unexpectedReply("\(Self.self)")
            }
        }
        return Reply(leaseEnds: Int64(ends), states: states)
    }
}

/// Extends the leases of this nonce, and returns for each lease whether this nonce still owns it.
package struct RenewLeases: Request {
    package static var script: Script? { .lease }

    package var nonce: String
    package var host: String
    package var lifetime: Duration
    package var leases: [LeaseID]

    package init(nonce: String, host: String, lifetime: Duration, leases: [LeaseID]) {
        (self.nonce, self.host, self.lifetime, self.leases) = (nonce, host, lifetime, leases)
    }

    package var words: [any CommandArgument] {
        [ScriptKeys.prefix, "renew", nonce, host, lifetime, "", ArgumentList(leases)]
    }

    /// Whether this nonce still owns each lease, in the order of the leases.
    package static func read(_ value: RESPValue) throws(StoreError) -> [Bool] {
        guard let parts = value.array, !parts.isEmpty else { throw .unexpectedReply("\(Self.self)") }
        return parts.dropFirst().map { $0.integer == 1 }
    }
}

/// Releases leases, so that other hosts need not wait for the leases to expire.
package struct ReleaseLeases: Request {
    package static var script: Script? { .lease }

    package var nonce: String
    /// The leases to release with their fencing tokens. A delayed call does not release a lease that was acquired again, because
    /// then the lease's token differs. Nil releases all leases.
    package var tokens: [LeaseID: FenceToken]?

    package init(nonce: String, tokens: [LeaseID: FenceToken]?) {
        (self.nonce, self.tokens) = (nonce, tokens)
    }

    package var words: [any CommandArgument] {
        let tokens = (tokens ?? [:]).sorted { $0.key.name < $1.key.name }
        return [
            ScriptKeys.prefix, self.tokens == nil ? "leave" : "release", nonce, "", 0, "",
            ArgumentList(tokens.map { ArgumentList([$0.key, $0.value]) }),
        ]
    }

    /// The number of released leases. The call releases only leases that this nonce owned.
    package static func read(_ value: RESPValue) throws(StoreError) -> Int {
        var reader = try ReplyReader(value, Self.self)
        return try reader.integer()
    }
}

/// Reads the owner of each lease.
package struct ReadOwners: Request {
    /// The leases that have an owner, and the times at which the leases end.
    package struct Reply: Equatable, Sendable {
        package var leases: [LeaseID: FenceToken] = [:]
        /// When all leases of a nonce end, in milliseconds of Redis's clock.
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
                reply.leases[.intake] = token
            } else if let shard = Int(foreign: name) {
                reply.leases[.shard(shard)] = token
            }
        }
        return reply
    }
}
