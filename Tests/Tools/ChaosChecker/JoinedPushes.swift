/// The records of producers and gateway, joined by push.
struct JoinedPushes {
    struct Push {
        /// The places of the push's requests in the gateway's ledger.
        var requests: [Int] = []
        var acceptances = 0
        /// The event of the push's outcome, if the push was not delivered.
        var failure: EventNote?
        var isReportedDelivered = false
    }

    struct Job {
        let producer: String
        let attemptedAt: Int64
        let promise: ProducerNote.Promise
        /// The job's place among the notes of all producers.
        let place: Int
        var acceptedAt: Int64?
        var refused = false
        var isUnknown = false
        var pushes: [String: Push]
        /// The fields of the job record at the end.
        var jobRecord: [String: String]?

        func count(_ field: String) -> Int { jobRecord?[field].flatMap { Int($0) } ?? 0 }
        /// Whether the job is known to be in the farm.
        var isIn: Bool { acceptedAt != nil || (isUnknown && jobRecord != nil) }
    }

    private(set) var jobs: [String: Job] = [:]

    /// For each campaign and merge group, the tokens of its audience.
    private let audiences: [String: Set<String>]

    init(_ evidence: Evidence, _ verdict: inout Verdict) {
        var audiences = Dictionary(evidence.campaigns.map { ($0.id, $0.audience) }) { first, _ in first }
        for merge in evidence.merges {
            audiences[merge.id] = merge.campaigns.reduce(into: []) { $0.formUnion(audiences[$1] ?? []) }
        }
        self.audiences = audiences
        addProducers(evidence, &verdict)
        addGateway(evidence, &verdict)
        for (id, jobRecord) in evidence.notes.last?.jobRecords ?? [:] {
            if jobs[id] == nil, audiences[id] == nil {
                verdict.complain(.accounting, "a record of job \(id), which no producer pushed")
            }
            jobs[id]?.jobRecord = jobRecord
        }
        addEvents(evidence, &verdict)
    }

    private mutating func addProducers(_ evidence: Evidence, _ verdict: inout Verdict) {
        for (place, note) in evidence.producers.enumerated() {
            if case .attempt(let promise) = note.kind {
                guard jobs[note.job] == nil else {
                    verdict.complain(.ledger, "job \(note.job) attempted twice")
                    continue
                }
                let pushes = Dictionary(promise.tokens.map { ($0, Push()) }) { first, _ in first }
                jobs[note.job] = Job(
                    producer: note.producer, attemptedAt: note.at, promise: promise, place: place,
                    pushes: pushes)
                continue
            }
            guard let job = jobs[note.job], job.producer == note.producer, job.attemptedAt <= note.at else {
                verdict.complain(.ledger, "a reply for job \(note.job), which was not attempted before")
                continue
            }
            guard job.acceptedAt == nil, !job.isUnknown, !job.refused else {
                verdict.complain(.ledger, "two replies for job \(note.job)")
                continue
            }
            switch note.kind {
            case .accepted: jobs[note.job]?.acceptedAt = note.at
            case .refused: jobs[note.job]?.refused = true
            default: jobs[note.job]?.isUnknown = true
            }
        }
        for (id, job) in jobs where job.acceptedAt == nil && !job.isUnknown && !job.refused {
            verdict.complain(.ledger, "no reply for job \(id), and no note of a lost reply")
        }
    }

    private mutating func addGateway(_ evidence: Evidence, _ verdict: inout Verdict) {
        for (place, note) in evidence.gateway.enumerated() {
            if note.isUnread || audiences[note.job]?.contains(note.token) == true { continue }
            guard jobs[note.job]?.pushes[note.token] != nil else {
                verdict.unexpected += 1
                verdict.complain(.unexpected, "token \(note.token) of job \(note.job): \(note.status)")
                continue
            }
            jobs[note.job]?.pushes[note.token]?.requests.append(place)
            if note.status == 200 { jobs[note.job]?.pushes[note.token]?.acceptances += 1 }
        }
    }

    private mutating func addEvents(_ evidence: Evidence, _ verdict: inout Verdict) {
        let ends: Set<String> = ["push.failed", "push.expired", "push.delivered"]
        for event in evidence.events where ends.contains(event.type) {
            guard let push = jobs[event.job]?.pushes[event.token] else {
                verdict.complain(.events, "\(event.type) for token \(event.token) of job \(event.job)")
                continue
            }
            if push.failure != nil || push.isReportedDelivered {
                verdict.complain(.events, "two ends of token \(event.token) of job \(event.job)")
            }
            if event.type == "push.delivered" {
                jobs[event.job]?.pushes[event.token]?.isReportedDelivered = true
            } else {
                jobs[event.job]?.pushes[event.token]?.failure = event
            }
        }
    }
}
