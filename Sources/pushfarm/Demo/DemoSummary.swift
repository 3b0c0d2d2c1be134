import Foundation
import StoreProtocol

/// What the gateway counted, for itself.
struct GatewayCount: Decodable, Sendable {
    /// Pushes that it accepted, repeated ones too.
    var accepted = 0
    /// Devices among them.
    var devices = 0
    /// Accepted pushes whose `apns-id` had been accepted before.
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

/// The job records of a demo beside the gateway's own count.
struct DemoSummary: Sendable {
    var load: DemoLoad
    var workersKilled = 0
    var workersToKill = 0
    var time: Duration = .zero
    var gateway: GatewayCount
    private(set) var jobRecords = 0
    private(set) var unfinished = 0
    private(set) var accepted = 0
    private(set) var delivered = 0
    private(set) var failed = 0
    private(set) var expired = 0
    private(set) var cancelled = 0
    private(set) var maybeDuplicated = 0
    private(set) var reasons: [String: Int] = [:]

    init(load: DemoLoad, gateway: GatewayCount) {
        self.load = load
        self.gateway = gateway
    }

    mutating func add(_ jobRecord: JobRecord) {
        jobRecords += 1
        if jobRecord.state != .finished { unfinished += 1 }
        accepted += jobRecord.accepted
        delivered += jobRecord.delivered
        failed += jobRecord.failed
        expired += jobRecord.expired
        cancelled += jobRecord.cancelled
        maybeDuplicated += jobRecord.maybeDuplicated
        reasons.merge(jobRecord.reasons, uniquingKeysWith: +)
    }

    /// Good devices that the gateway never heard of.
    var lost: Int { load.pushes - load.bad - gateway.devices }
    var duplicated: Int { gateway.accepted - gateway.devices }
    var rate: Int { Figures.rate(load.pushes, in: time) }

    /// What does not add up, in words; empty when all does.
    var faults: [String] {
        let checks: [(Bool, String)] = [
            (
                jobRecords == load.jobs && unfinished == 0,
                "\(load.jobs - jobRecords + unfinished) jobs are not finished"
            ),
            (accepted == load.pushes, "\(accepted) pushes accepted, \(load.pushes) sent"),
            (
                delivered == load.pushes - load.bad,
                "\(delivered) delivered, \(load.pushes - load.bad) expected"
            ),
            (failed == load.bad, "\(failed) failed, \(load.bad) expected"),
            (
                reasons == (load.bad > 0 ? ["BadDeviceToken": load.bad] : [:]),
                "failed for other reasons: \(reasons)"
            ),
            (lost == 0, "\(lost) devices got nothing"),
            (
                duplicated == gateway.repeated,
                "\(duplicated) duplicated, but \(gateway.repeated) with the same apns-id"
            ),
            (
                duplicated <= maybeDuplicated,
                "\(duplicated) duplicated, but only \(maybeDuplicated) are recorded"
            ),
        ]
        return checks.filter { !$0.0 }.map(\.1)
    }
}

extension DemoSummary {
    var json: JSONValue {
        let milliseconds =
            time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
        return .object([
            "ok": .bool(faults.isEmpty), "pushes": .number(load.pushes), "jobs": .number(load.jobs),
            "accepted": .number(accepted), "delivered": .number(delivered), "failed": .number(failed),
            "expired": .number(expired), "cancelled": .number(cancelled), "lost": .number(lost),
            "duplicated": .number(duplicated), "maybe_duplicated": .number(maybeDuplicated),
            "gateway_accepted": .number(gateway.accepted), "workers_killed": .number(workersKilled),
            "milliseconds": .number(milliseconds), "rate": .number(rate),
            "reasons": .object(
                reasons.sorted { $0.key < $1.key }.map {
                    JSONValue.Field(name: $0.key, value: .number($0.value))
                }),
            "faults": .array(faults.map { .string($0) }),
        ])
    }

    func text(_ style: TextStyle) -> String {
        var table = FactTable()
        func counts(_ reasons: [String: Int]) -> String {
            reasons.sorted { $0.key < $1.key }.map { "\($0.key) \(Figures.grouped($0.value))" }
                .joined(separator: ", ")
        }
        table.add("pushes", load.pushes, note: "in \(Figures.grouped(load.jobs)) jobs", always: true)
        table.add("delivered", delivered, .green, always: true)
        table.add("failed", failed, note: counts(reasons), always: true)
        table.add("expired", expired, .yellow)
        table.add("accepted by the gateway", gateway.accepted, note: "its own count", always: true)
        table.add("lost", lost, lost == 0 ? .green : .red, always: true)
        let bound = "of at most \(Figures.grouped(maybeDuplicated)) in the job records"
        table.add("duplicated", duplicated, note: maybeDuplicated > 0 ? bound : "", always: true)
        if workersToKill > 0 {
            let isShort = workersKilled < workersToKill
            table.add(
                "workers killed", workersKilled,
                note: isShort ? "of \(workersToKill) wanted: the run was too short" : "", always: true)
        }
        table.add("pushes a second", rate, note: "in \(Figures.time(time))", always: true)
        let verdict =
            faults.isEmpty
            ? Paint.green.on("It adds up.", if: style.colours)
            : faults.map { Paint.red.on("! " + $0, if: style.colours) }.joined(separator: "\n")
        return table.text(style) + "\n" + verdict + "\n"
    }
}
