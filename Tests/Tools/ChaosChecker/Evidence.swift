/// What everybody wrote down during a run. Times are milliseconds since 1970.
package struct Evidence: Sendable {
    /// In the order in which they were written, by one producer after the other.
    package var producers: [ProducerNote] = []
    /// In the order of the gateway's file.
    package var gateway: [GatewayNote] = []
    /// In order of time; the last one is the end.
    package var books: [BooksNote] = []
    /// In the order of the stream.
    package var events: [EventNote] = []
    package var faults: [FaultNote] = []
    /// How tokens are spread, by the rule of docs/internals/sharding.md. One that is not in here is not asked about.
    package var shards: [String: Int] = [:]
    /// Keys that still hold something at the end and should not.
    package var leftovers: [String] = []

    package init() {}
}

/// A line of a producer's ledger: written before the job is pushed, and again when it knows more.
package struct ProducerNote: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// About to be pushed.
        case attempt(Promise)
        /// Redis has confirmed it.
        case accepted
        /// Redis has refused it: it is not in the farm.
        case refused
        /// The answer was lost: it may be in the farm or not.
        case unknown
    }

    /// What the job asks for.
    package struct Promise: Equatable, Sendable {
        package var tokens: [String]
        /// Milliseconds since 1970.
        package var deadline: Int64?
        package var atMostOnce = false
        /// Told about every push, not only about failures.
        package var allReceipts = false
        /// Its pushes stand in one order with those of other such jobs of the same producer.
        package var isOrdered = true

        package init(tokens: [String]) { self.tokens = tokens }
    }

    package var at: Int64
    package var producer: String
    package var job: String
    package var kind: Kind

    package init(at: Int64, producer: String, job: String, kind: Kind) {
        (self.at, self.producer, self.job, self.kind) = (at, producer, job, kind)
    }
}

/// A request as the gateway noted it, before it answered.
package struct GatewayNote: Equatable, Sendable {
    package var at: Int64
    package var connection: Int
    package var stream: Int
    /// The job that the push named as its collapse id.
    package var job: String
    package var token: String
    /// 0: there was no answer.
    package var status: Int
    package var reason: String

    /// The stream was refused before the gateway looked at its request.
    package var isUnread: Bool { token.isEmpty && status == 0 && reason == "REFUSED_STREAM" }

    package init(
        at: Int64, connection: Int, stream: Int, job: String, token: String, status: Int, reason: String
    ) {
        (self.at, self.connection, self.stream) = (at, connection, stream)
        (self.job, self.token, self.status, self.reason) = (job, token, status, reason)
    }
}

/// All accounts at one moment, as HGETALL gave them; nil when Redis could not be asked.
package struct BooksNote: Equatable, Sendable {
    /// Counts up by one.
    package var number: Int
    package var at: Int64
    /// Fields by job.
    package var accounts: [String: [String: String]]?

    package init(number: Int, at: Int64, accounts: [String: [String: String]]?) {
        (self.number, self.at, self.accounts) = (number, at, accounts)
    }
}

/// An entry of the events stream.
package struct EventNote: Equatable, Sendable {
    package var type: String
    package var at: Int64
    package var fields: [String: String]

    package init(type: String, at: Int64, fields: [String: String]) {
        (self.type, self.at, self.fields) = (type, at, fields)
    }

    package var job: String { fields["job"] ?? "" }
    package var token: String { fields["token"] ?? "" }
    package var reason: String { fields["reason"] ?? "" }
}

/// Something that was done to the farm.
package struct FaultNote: Equatable, Sendable {
    package var at: Int64
    /// When the farm could work again as far as this fault is concerned.
    package var until: Int64
    package var what: String

    package init(at: Int64, until: Int64, what: String) {
        (self.at, self.until, self.what) = (at, until, what)
    }
}
