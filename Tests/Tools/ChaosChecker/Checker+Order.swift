/// Checks that first attempts of a token come in the order of their jobs.
extension Checker {
    mutating func checkOrder() {
        let ordered = pushes.jobs.values.lazy.filter { $0.promise.isOrdered && $0.acceptedAt != nil }
        let places = firstAttempts()
        var byToken: [Lane: [JoinedPushes.Job]] = [:]
        for job in ordered {
            for token in job.pushes.keys { byToken[Lane(job.producer, token), default: []].append(job) }
        }
        for (lane, jobs) in byToken where jobs.count > 1 {
            var last = -1
            for job in jobs.sorted(by: { $0.place < $1.place }) {
                guard let place = places[Key(job.place, lane.token)] else { continue }
                if place < last {
                    verdict.outOfOrder += 1
                    if expectation.keepsOrder {
                        verdict.complain(
                            .order, "token \(lane.token): line \(place) of an earlier job's \(last)")
                    }
                }
                last = max(last, place)
            }
        }
    }

    private struct Lane: Hashable {
        let producer: String
        let token: String
        init(_ producer: String, _ token: String) { (self.producer, self.token) = (producer, token) }
    }

    private struct Key: Hashable {
        let job: Int
        let token: String
        init(_ job: Int, _ token: String) { (self.job, self.token) = (job, token) }
    }

    /// Returns the place of the first request in the gateway's ledger, for each job and token.
    private func firstAttempts() -> [Key: Int] {
        var places: [Key: Int] = [:]
        for job in pushes.jobs.values {
            for (token, push) in job.pushes { places[Key(job.place, token)] = push.requests.first }
        }
        return places
    }
}
