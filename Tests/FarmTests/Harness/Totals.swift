/// Sums of several job records.
struct Totals: Equatable {
    var accepted = 0
    var delivered = 0
    var failed = 0
    var expired = 0
    var maybeDuplicated = 0
    var reasons: [String: Int] = [:]

    mutating func add(_ account: Account) {
        accepted += account.accepted
        delivered += account.delivered
        failed += account.failed
        expired += account.expired
        maybeDuplicated += account.maybeDuplicated
        reasons.merge(account.reasons, uniquingKeysWith: +)
    }
}
