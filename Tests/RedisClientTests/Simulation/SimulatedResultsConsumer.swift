import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// A results consumer that reads results entries, computes their settlements and settles them.
final class SimulatedResultsConsumer {
    private let name: String
    private unowned let simulation: Simulation

    init(_ name: String, _ simulation: Simulation) { (self.name, self.simulation) = (name, simulation) }

    func redisIsAnother() {}

    func step() throws {
        let count = simulation.isQuiet ? 64 : 1 + simulation.below(6)
        let records: [ResultsStreamEntry]?
        switch simulation.below(4) {
        case 0, 1: records = try simulation.attempt(ReadResults(consumer: name, .new, count: count))
        case 2:
            records = try simulation.attempt(ReadResults(consumer: name, .pending(after: nil), count: count))
        default:
            records = try simulation.attempt(ClaimResults(consumer: name, idleFor: .zero, count: count))?
                .records
        }
        guard let records, !records.isEmpty else { return }
        _ = try simulation.attempt(Settle(try records.map(settlement)))
    }

    private func settlement(_ record: ResultsStreamEntry) throws -> Settlement {
        var settlement = Settlement(entry: record.id)
        var jobs: [String: Settlement.Job] = [:]
        switch record.content {
        case .gone, .unreadable: break
        case .closed(let reason, let body, let positions):
            let batch = try Batch(decoding: body)
            for position in positions.flatMap({ Array($0) }) {
                let push = batch.pushes[position]
                let id = batch.jobID(of: Int(push.jobPart))
                jobs[id, default: .init(id: id)].failed += 1
                jobs[id, default: .init(id: id)].reasons[reason.rawValue, default: 0] += 1
                settlement.events.append(
                    FarmEvent(.pushFailed, job: id, token: batch.bytes[push.token], reason: reason.rawValue))
                settlement.letters.append(
                    .init(job: id, reason: reason.rawValue, pushes: 1, body: StoreFixture.body([(id, 1)])))
            }
        case .report(let bytes):
            let entry = try WorkerReport(decoding: bytes)
            for item in entry.items {
                let id = entry.jobID(of: item)
                var job = jobs[id] ?? .init(id: id)
                settle(item, of: entry, to: &job, &settlement, lane: record.lane)
                jobs[id] = job
            }
        }
        settlement.jobs = jobs.values.sorted { $0.id < $1.id }
        return settlement
    }

    private func settle(
        _ item: WorkerReport.Item, of entry: WorkerReport, to job: inout Settlement.Job,
        _ settlement: inout Settlement, lane: Lane
    ) {
        switch item.result {
        case .delivered:
            job.delivered += item.count
            settlement.responses += item.count
        case .failed(let failure):
            job.failed += item.count
            job.reasons[entry.text(failure.reason), default: 0] += item.count
            settlement.responses += item.count
            for token in entry.tokens[failure.tokens] {
                settlement.events.append(
                    FarmEvent(
                        .pushFailed, job: job.id, token: entry.bytes[token.range],
                        reason: entry.text(failure.reason)))
                if failure.isInvalidToken {
                    let bytes = Array(entry.bytes[token.range])
                    settlement.scopes.insert(StoreFixture.scope)
                    settlement.invalidTokens.append(
                        StoreFixture.dead(
                            bytes, shard: ShardHash.shard(of: bytes, shards: Simulation.shards), .unregistered
                        ))
                }
            }
        case .letter(let letter):
            let reason = entry.text(letter.reason)
            job.failed += item.count
            job.reasons[reason, default: 0] += item.count
            if FarmReason(rawValue: reason) == nil { settlement.responses += item.count }
            for push in entry.pushes[letter.jobPart.pushes] {
                settlement.events.append(
                    FarmEvent(.pushFailed, job: job.id, token: entry.bytes[push.token], reason: reason))
            }
            settlement.letters.append(
                .init(
                    job: job.id, reason: reason, pushes: item.count,
                    body: body(of: letter.jobPart, item, entry)))
        case .expired: job.expired += item.count
        case .retry(let retry):
            job.delayed += item.count
            if retry.why == .unknownOutcome { job.maybeDuplicated += item.count }
            settlement.retries.append(self.retry(entry, item, retry, lane: lane))
        }
    }

    private func retry(
        _ entry: WorkerReport, _ item: WorkerReport.Item, _ retry: WorkerReport.Retry, lane: Lane
    ) -> Settlement.Retry {
        let first = entry.pushes[retry.jobPart.pushes.lowerBound]
        let shard = ShardHash.shard(of: Array(entry.bytes[first.token]), shards: Simulation.shards)
        return Settlement.Retry(
            shard: shard, lane: lane, delay: .milliseconds(simulation.below(20_000)), tokens: item.count,
            body: body(of: retry.jobPart, item, entry))
    }

    private func body(
        of jobPart: Batch.JobPart, _ item: WorkerReport.Item, _ entry: WorkerReport
    ) -> [UInt8] {
        var builder = BatchBuilder()
        entry.bytes.withUnsafeBytes { raw in
            builder.append(
                jobPart: UnsafeRawBufferPointer(rebasing: raw[jobPart.encoded]), tokens: item.count,
                jobID: Array(entry.bytes[item.jobID]), isAtMostOnce: jobPart.options.delivery == .atMostOnce)
        }
        return builder.finish()!
    }
}
