import FarmHarness
import Foundation
import Testing

extension Farm {
    /// Pushes jobs as a producer does, with a plain Redis client.
    func push(_ jobs: [Job], to app: String = "demo") throws {
        try redis.client().pipeline(jobs.map { ["RPUSH", "pushfarm:\(app)", $0.text] })
    }

    func push(_ text: String, to app: String = "demo") throws {
        try redis.client().run("RPUSH", "pushfarm:\(app)", text)
    }

    /// Waits until the job is finished, checks the accounting, and returns the job record.
    func finished(
        _ id: String, app: String = "demo", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JobRecord {
        let result = try await run("job", id, "--app", app, "--wait", "--json")
        guard result.status <= 1, !result.output.isEmpty else {
            throw Overdue(description: "job \(id): \(result)\n\(coordinator.error.suffix(2000))")
        }
        let jobRecord = try JSONDecoder().decode(JobRecord.self, from: Data(result.output.utf8))
        #expect(
            jobRecord.addsUp && jobRecord.state == "finished", "\(jobRecord)", sourceLocation: sourceLocation)
        return jobRecord
    }

    /// Waits until all jobs are finished, and returns the sums of the job records.
    ///
    /// For several jobs, this function polls Redis and runs only one command, at the end, because a command for each job or each
    /// poll would take CPU time from the farm. On a farm with named hosts, it runs no command, because a host may be stopped or
    /// cut off.
    func finished(
        _ jobs: [Job], app: String = "demo", within limit: Duration = .seconds(150),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Totals {
        var totals = Totals()
        if hosts == nil, let job = jobs.first, jobs.count == 1 {
            let jobRecord = try await finished(job.id, app: app, sourceLocation: sourceLocation)
            #expect(jobRecord.submitted == job.tokens.count, sourceLocation: sourceLocation)
            totals.add(jobRecord)
            return totals
        }
        do {
            try await eventually("\(jobs.count) jobs are finished", within: limit) {
                areFinished(jobs, app)
            }
        } catch {
            let log = hosts == nil ? "\n\(coordinator.error.suffix(2000))" : ""
            throw Overdue(description: "\(error)\(log)")
        }
        let jobRecords =
            hosts == nil ? try await listedJobRecords(app) : try storedJobRecords(of: jobs, app)
        for job in jobs {
            guard let jobRecord = jobRecords[job.id] else {
                throw Overdue(description: "job \(job.id) is not listed: \(jobRecords.keys.sorted())")
            }
            #expect(
                jobRecord.addsUp && jobRecord.state == "finished", "\(jobRecord)",
                sourceLocation: sourceLocation)
            #expect(jobRecord.submitted == job.tokens.count, sourceLocation: sourceLocation)
            totals.add(jobRecord)
        }
        return totals
    }

    /// Whether all jobs are finished. Returns false while Redis is unreachable.
    private func areFinished(_ jobs: [Job], _ app: String) -> Bool {
        let states = try? redis.client().pipeline(
            jobs.map { ["HGET", "{pushfarm:\(app)}:job:\($0.id)", "state"] })
        return states?.allSatisfy { $0.text == "finished" } ?? false
    }

    private func listedJobRecords(_ app: String) async throws -> [String: JobRecord] {
        let result = try await run("jobs", "--app", app, "--limit", "10000", "--json")
        let list = try JSONDecoder().decode([String: [JobRecord]].self, from: Data(result.output.utf8))
        return Dictionary((list["jobs"] ?? []).map { ($0.id, $0) }) { first, _ in first }
    }

    private func storedJobRecords(of jobs: [Job], _ app: String) throws -> [String: JobRecord] {
        let records = try redis.client().pipeline(
            jobs.map { ["HGETALL", "{pushfarm:\(app)}:job:\($0.id)"] })
        return Dictionary(
            zip(jobs, records).map { ($0.id, JobRecord(id: $0.id, app: app, record: $1.fields)) }
        ) { first, _ in first }
    }

    /// The current job record; nil if Redis has no such record.
    func jobRecord(_ id: String) async throws -> JobRecord? {
        let result = try await run("job", id, "--app", "demo", "--json")
        return try? JSONDecoder().decode(JobRecord.self, from: Data(result.output.utf8))
    }
}
