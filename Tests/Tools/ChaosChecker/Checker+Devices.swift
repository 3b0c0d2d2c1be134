/// Checks whether a device had pushes in flight on two connections at a time. Pushes on two connections may overtake
/// each other.
///
/// Each request is open for at least ``Expectation/responseTime``. So if two requests for a token come on two connections within
/// this time, both requests are in flight together. The check ignores the bulk lane, because a high push may use another
/// connection and overtake bulk pushes.
extension Checker {
    mutating func checkDevices() {
        guard let time = expectation.responseTime else { return }
        var latest: [String: GatewayNote] = [:]
        for note in evidence.gateway where pushes.jobs[note.job]?.promise.isOrdered == true {
            defer { latest[note.token] = note }
            guard let before = latest[note.token], before.connection != note.connection,
                note.at - before.at < time
            else { continue }
            verdict.crossings += 1
            if expectation.keepsOrder {
                verdict.complain(
                    .order,
                    "token \(note.token) over connections \(before.connection) and \(note.connection) within \(note.at - before.at) ms"
                )
            }
        }
    }
}
