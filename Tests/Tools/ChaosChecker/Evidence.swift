/// All records of a run. Times are milliseconds since 1970.
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
    /// The shards of tokens, by the rule of docs/internals/sharding.md. Tokens that are not listed are not checked.
    package var shards: [String: Int] = [:]
    /// Keys that should be empty at the end and are not.
    package var leftovers: [String] = []

    package init() {}
}

/// A line of a producer's ledger: written before the job is pushed, and again after the reply.
package struct ProducerNote: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// About to be pushed.
        case attempt(Promise)
        /// Redis has confirmed it.
        case accepted
        /// Redis has refused it: it is not in the farm.
        case refused
        /// The reply was lost: the job may be in the farm or not.
        case unknown
    }

    /// The job's options.
    package struct Promise: Equatable, Sendable {
        package var tokens: [String]
        /// Milliseconds since 1970.
        package var deadline: Int64?
        package var atMostOnce = false
        /// The job asks for events of all pushes, not only of failures.
        package var allReceipts = false
        /// Its pushes keep their order with other such jobs of the same producer.
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

    /// The stream was refused before the gateway read its request.
    package var isUnread: Bool { token.isEmpty && status == 0 && reason == "REFUSED_STREAM" }

    package init(
        at: Int64, connection: Int, stream: Int, job: String, token: String, status: Int, reason: String
    ) {
        (self.at, self.connection, self.stream) = (at, connection, stream)
        (self.job, self.token, self.status, self.reason) = (job, token, status, reason)
    }
}

/// All job records at one moment, from HGETALL; nil when Redis was not reachable.
package struct BooksNote: Equatable, Sendable {
    /// Counts up by one.
    package var number: Int
    package var at: Int64
    /// Fields by job.
    package var jobRecords: [String: [String: String]]?

    package init(number: Int, at: Int64, jobRecords: [String: [String: String]]?) {
        (self.number, self.at, self.jobRecords) = (number, at, jobRecords)
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

/// A fault that was injected.
package struct FaultNote: Equatable, Sendable {
    package var at: Int64
    /// When this fault ended.
    package var until: Int64
    package var what: String

    package init(at: Int64, until: Int64, what: String) {
        (self.at, self.until, self.what) = (at, until, what)
    }
}
