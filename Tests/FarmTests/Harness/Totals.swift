/// Sums of several job records.
struct Totals: Equatable {
    var accepted = 0
    var delivered = 0
    var failed = 0
    var expired = 0
    var maybeDuplicated = 0
    var reasons: [String: Int] = [:]

    mutating func add(_ jobRecord: JobRecord) {
        accepted += jobRecord.accepted
        delivered += jobRecord.delivered
        failed += jobRecord.failed
        expired += jobRecord.expired
        maybeDuplicated += jobRecord.maybeDuplicated
        reasons.merge(jobRecord.reasons, uniquingKeysWith: +)
    }
}
