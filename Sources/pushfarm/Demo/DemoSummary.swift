import EventLoop
import Foundation
import Simulator
import StoreProtocol

/// The simulator's own counts.
struct GatewayCount: Decodable, Sendable {
    /// Accepted pushes; a push that was sent twice counts twice.
    var accepted = 0
    /// Different device tokens among the accepted pushes.
    var devices = 0
    /// Accepted pushes with an `apns-id` that had been accepted before.
    var repeated = 0

    private enum CodingKeys: String, CodingKey {
        case accepted
        case devices = "distinct_tokens"
        case repeated = "repeated_ids"
    }

    init?(json: String) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
        self = read
    }
}

extension GatewayCount {
    /// Reads the counts of the demo's simulator.
    @Loop static func read(from farm: LocalFarm) async throws(CommandFailure) -> GatewayCount {
        let reply: String
        do {
            reply = try await SimulatorControlClient.send("counters", socket: farm.simulation?.control ?? "")
        } catch {
            throw .failed("the simulator does not reply: \(error)")
        }
        guard let gateway = GatewayCount(json: reply) else {
            throw .failed("the simulator's counters cannot be read: \(reply)")
        }
        return gateway
    }
}

/// The counts of a demo: the sums of its job records, and the counts of the simulated gateway.
struct DemoSummary: DemoResult {
    var load: DemoLoad
    var workersKilled = 0
    var workersToKill = 0
    var time: Duration = .zero
    var gateway: GatewayCount
    private var jobRecords = 0
    private var unfinished = 0
    /// The sums of the job records.
    private var sum = JobRecord(id: "", app: DemoSettings.app, state: .finished)

    init(load: DemoLoad, gateway: GatewayCount) {
        self.load = load
        self.gateway = gateway
    }

    mutating func add(_ jobRecord: JobRecord) {
        jobRecords += 1
        if jobRecord.state != .finished { unfinished += 1 }
        sum.accepted += jobRecord.accepted
        sum.delivered += jobRecord.delivered
        sum.failed += jobRecord.failed
        sum.expired += jobRecord.expired
        sum.cancelled += jobRecord.cancelled
        sum.maybeDuplicated += jobRecord.maybeDuplicated
        sum.reasons.merge(jobRecord.reasons, uniquingKeysWith: +)
    }

    /// Good tokens that never got a push.
    var lost: Int { load.pushes - load.bad - gateway.devices }
    var duplicated: Int { gateway.accepted - gateway.devices }
    var rate: Int { Figures.rate(load.pushes, in: time) }

    /// Sentences about counts that differ; empty if all counts agree.
    var faults: [String] {
        var faults: [String] = []
        func check(_ isRight: Bool, _ fault: String) { if !isRight { faults.append(fault) } }
        let good = load.pushes - load.bad
        let missing = load.jobs - jobRecords + unfinished
        check(missing == 0, "\(missing) jobs are not finished")
        check(sum.accepted == load.pushes, "\(sum.accepted) pushes accepted, \(load.pushes) sent")
        check(sum.delivered == good, "\(sum.delivered) delivered, \(good) expected")
        check(sum.failed == load.bad, "\(sum.failed) failed, \(load.bad) expected")
        let reasons = load.bad > 0 ? ["BadDeviceToken": load.bad] : [:]
        check(sum.reasons == reasons, "failed for other reasons: \(sum.reasons)")
        check(lost == 0, "\(lost) devices got no push")
        check(
            duplicated == gateway.repeated,
            "\(duplicated) duplicated, but \(gateway.repeated) with the same apns-id")
        check(
            duplicated <= sum.maybeDuplicated,
            "\(duplicated) duplicated, but only \(sum.maybeDuplicated) are recorded")
        return faults
    }
}

extension DemoSummary {
    var json: JSONValue {
        .object([
            "ok": .bool(faults.isEmpty), "pushes": .number(load.pushes), "jobs": .number(load.jobs),
            "accepted": .number(sum.accepted), "delivered": .number(sum.delivered),
            "failed": .number(sum.failed), "expired": .number(sum.expired),
            "cancelled": .number(sum.cancelled), "lost": .number(lost),
            "duplicated": .number(duplicated), "maybe_duplicated": .number(sum.maybeDuplicated),
            "gateway_accepted": .number(gateway.accepted), "workers_killed": .number(workersKilled),
            "milliseconds": .number(time.clampedMilliseconds), "rate": .number(rate),
            "reasons": .counts(sum.reasons), "faults": .strings(faults),
        ])
    }

    var table: FactTable {
        var table = FactTable()
        let reasons = sum.reasons.sorted { $0.key < $1.key }
            .map { "\($0.key) \(Figures.grouped($0.value))" }.joined(separator: ", ")
        table.add("pushes", load.pushes, note: "in \(Figures.grouped(load.jobs)) jobs", always: true)
        table.add("delivered", sum.delivered, .green, always: true)
        table.add("failed", sum.failed, note: reasons, always: true)
        table.add("expired", sum.expired, .yellow)
        table.add("accepted by the gateway", gateway.accepted, note: "its own count", always: true)
        table.add("lost", lost, lost == 0 ? .green : .red, always: true)
        let bound = "of at most \(Figures.grouped(sum.maybeDuplicated)) in the job records"
        table.add("duplicated", duplicated, note: sum.maybeDuplicated > 0 ? bound : "", always: true)
        if workersToKill > 0 {
            let isShort = workersKilled < workersToKill
            table.add(
                "workers killed", workersKilled,
                note: isShort ? "of \(workersToKill) wanted: the run was too short" : "", always: true)
        }
        table.add("pushes a second", rate, note: "in \(Figures.time(time))", always: true)
        return table
    }
}
