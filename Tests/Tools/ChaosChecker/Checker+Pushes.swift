/// Checks the outcome of each push.
extension Checker {
    mutating func checkPushes() {
        for (id, job) in pushes.jobs.sorted(by: { $0.value.place < $1.value.place }) {
            if job.refused { checkRefused(id, job) } else { check(id, job) }
        }
        let duplicates = verdict.duplicates
        if duplicates > expectation.doubles {
            verdict.complain(
                .duplicated, "\(duplicates), but the faults explain at most \(expectation.doubles)")
        }
    }

    private mutating func checkRefused(_ id: String, _ job: JoinedPushes.Job) {
        for (token, push) in job.pushes where !push.requests.isEmpty {
            verdict.unexpected += 1
            verdict.complain(.unexpected, "token \(token) of job \(id), which Redis refused")
        }
        if job.jobRecord != nil {
            verdict.complain(.accounting, "a record of job \(id), which Redis refused")
        }
    }

    private mutating func check(_ id: String, _ job: JoinedPushes.Job) {
        var tally = Tally()
        let isForgotten = job.acceptedAt.map(mayBeForgotten) == true && job.jobRecord == nil
        for (token, push) in job.pushes {
            if push.acceptances > 1 { tally.duplicates += push.acceptances - 1 }
            if push.acceptances > 0 { tally.delivered += 1 }
            if push.isReportedDelivered, push.acceptances == 0 {
                verdict.falseClaims += 1
                verdict.complain(.falseClaim, "token \(token) of job \(id)")
            }
            if let failure = push.failure {
                tally.failed += 1
                if push.acceptances > 0 { tally.missed += 1 }
                checkReason(id, token, job, push, failure)
            } else if push.acceptances == 0, job.isIn {
                if isForgotten {
                    verdict.forgotten += 1
                } else {
                    verdict.lost += 1
                    verdict.complain(.lost, "token \(token) of job \(id)")
                }
            }
        }
        if job.isIn { verdict.pushes += job.pushes.count }
        if job.isUnknown { verdict.recovered += tally.delivered }
        add(id, job, tally)
    }

    private struct Tally {
        var delivered = 0
        var failed = 0
        var missed = 0
        var duplicates = 0
    }

    private mutating func add(_ id: String, _ job: JoinedPushes.Job, _ tally: Tally) {
        verdict.delivered += tally.delivered
        verdict.duplicates += tally.duplicates
        verdict.missedClaims += tally.missed
        verdict.maybeDuplicated += job.count("maybe_duplicated")
        guard job.jobRecord != nil else { return }
        let isExact = expectation.rollBacks.isEmpty
        if isExact, tally.duplicates > job.count("maybe_duplicated") {
            verdict.complain(
                .duplicated,
                "\(tally.duplicates) of job \(id), whose record allows \(job.count("maybe_duplicated"))")
        }
        let claims = job.count("delivered")
        if claims > tally.delivered {
            verdict.falseClaims += claims - tally.delivered
            verdict.complain(.falseClaim, "job \(id) counts \(claims), the gateway \(tally.delivered)")
        }
        // If the response to a delivered push is lost, the next attempt may fail, and then the push counts as failed. The job
        // record counts these pushes in `maybe_duplicated` or with reason `unknown`.
        let doubtful = job.count("maybe_duplicated") + job.count("reason:unknown")
        if isExact, tally.missed > doubtful {
            verdict.complain(
                .missedClaim, "\(tally.missed) of job \(id), but lost responses explain \(doubtful)")
        }
    }

    /// Checks that a failure has the gateway's response or a plausible reason of the farm.
    private mutating func checkReason(
        _ id: String, _ token: String, _ job: JoinedPushes.Job, _ push: JoinedPushes.Push,
        _ failure: EventNote
    ) {
        let requests = push.requests.map { evidence.gateway[$0] }
        let isTrue =
            if failure.type == "push.expired" {
                job.promise.deadline.map { failure.at + 2_000 >= $0 } ?? false
            } else {
                switch failure.reason {
                case "unknown": job.promise.atMostOnce
                case "poison": expectation.poison.contains(token)
                case "exhausted": requests.contains { $0.status != 200 }
                case "suppressed": invalidTokens.contains(token)
                case "lost": !expectation.rollBacks.isEmpty
                default:
                    requests.contains {
                        $0.reason == failure.reason && String($0.status) == failure.fields["status"]
                    }
                }
            }
        guard !isTrue else { return }
        verdict.lost += 1
        verdict.complain(
            .lost,
            "token \(token) of job \(id): \(failure.type) \(failure.reason), which the gateway does not know")
    }
}
