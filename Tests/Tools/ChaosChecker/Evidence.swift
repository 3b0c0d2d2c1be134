/// All records of a run. Times are milliseconds since 1970.
package struct Evidence: Sendable {
    /// The notes of all producers. The notes of one producer stand together, in the order in which the producer wrote them.
    package var producers: [ProducerNote] = []
    /// The gateway's notes in the order of its ledger.
    package var gateway: [GatewayNote] = []
    /// The observations of the job records in order of time. The last observation is the end of the run.
    package var notes: [JobRecordsNote] = []
    package var campaigns: [CampaignNote] = []
    package var merges: [MergeNote] = []
    /// The events in the order of the stream.
    package var events: [EventNote] = []
    package var faults: [FaultNote] = []
    /// The shards of tokens, by the rule of docs/internals/sharding.md. The checker does not check the senders of tokens that are
    /// missing here.
    package var shards: [String: Int] = [:]
    /// The keys that should be empty at the end but are not.
    package var leftovers: [String] = []

    package init() {}
}

/// A line of a producer's ledger. The producer writes one line before it pushes a job, and another line after the reply.
package struct ProducerNote: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// The producer is about to push the job.
        case attempt(Promise)
        /// Redis has accepted the job.
        case accepted
        /// Redis has refused the job, so the job is not in the farm.
        case refused
        /// The reply was lost. The job may be in the farm or not.
        case unknown
    }

    /// The job's options.
    package struct Promise: Equatable, Sendable {
        package var tokens: [String]
        /// The deadline in milliseconds since 1970.
        package var deadline: Int64?
        package var atMostOnce = false
        /// Whether the job asks for the events of all pushes, and not only of failures.
        package var allReceipts = false
        /// Whether the job's pushes keep their order relative to other ordered jobs of the same producer.
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

/// A request that the gateway noted before it sent the response.
package struct GatewayNote: Equatable, Sendable {
    package var at: Int64
    package var connection: Int
    package var stream: Int
    /// The id of the push's job, which the push carries as its collapse id.
    package var job: String
    package var token: String
    /// The response's status; 0 if the gateway sent no response.
    package var status: Int
    package var reason: String
    /// A hash of the payload; empty if it is unknown.
    package var payload: String

    /// Whether the gateway refused the stream before it read the request.
    package var isUnread: Bool { token.isEmpty && status == 0 && reason == "REFUSED_STREAM" }

    package init(
        at: Int64, connection: Int, stream: Int, job: String, token: String, status: Int, reason: String,
        payload: String = ""
    ) {
        self.payload = payload
        (self.at, self.connection, self.stream) = (at, connection, stream)
        (self.job, self.token, self.status, self.reason) = (job, token, status, reason)
    }
}

/// All job records at one moment, from HGETALL; nil when Redis was not reachable.
package struct JobRecordsNote: Equatable, Sendable {
    /// The number of the observation, which increases by one.
    package var number: Int
    package var at: Int64
    /// The fields of each job record by job id.
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

/// A fault that the run injected.
package struct FaultNote: Equatable, Sendable {
    package var at: Int64
    /// When this fault ended.
    package var until: Int64
    package var what: String

    package init(at: Int64, until: Int64, what: String) {
        (self.at, self.until, self.what) = (at, until, what)
    }
}
