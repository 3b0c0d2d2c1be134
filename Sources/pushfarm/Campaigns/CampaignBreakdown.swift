import ArgumentParser
import Campaigns
import EventLoop
import FarmLogging
import RedisClient
import Registry
import Scheduling
import Segments
import StoreProtocol

/// The devices of a campaign and those that are done, divided by one attribute, as a table for people or as JSON.
struct CampaignBreakdown: Sendable {
    /// By what the devices are divided.
    enum Dimension: String, ExpressibleByArgument, CaseIterable, Sendable {
        case zone, platform, model, os, lang, tag, network, reachability, cohort, round, time

        /// The attribute of stored devices; nil for a division that the campaign itself makes.
        fileprivate var attribute: SegmentTerm.Attribute? { SegmentTerm.Attribute(rawValue: rawValue) }
    }

    struct Row: Sendable, Equatable {
        let name: String
        /// The devices that a round has handled: accepted, capped, excluded or unsendable.
        var sent: Int
        /// Those of ``sent`` that have reported that they are done. By time: the devices that reported it then.
        var done: Int
        /// The share of ``done`` in ``sent``, 0...1. By time: the share of the audience that is done by then.
        let share: Double

        /// - Parameter share: nil: the share of `done` in `sent`.
        init(name: String, sent: Int, done: Int, share: Double? = nil) {
            (self.name, self.sent, self.done) = (name, sent, done)
            self.share = share ?? (sent > 0 ? min(1, Double(done) / Double(sent)) : 0)
        }
    }

    let dimension: Dimension
    let rows: [Row]

    init(dimension: Dimension, rows: [Row]) { (self.dimension, self.rows) = (dimension, rows) }

    /// Divides the pushes and the done devices by time.
    init(times: CampaignTimes, audience: Int) {
        var done = 0
        let rows = times.joined(to: Self.mostRows).map { span in
            done = done.adding(saturating: span.done)
            return Row(
                name: "\(Timestamp(milliseconds: span.start))", sent: span.sent,
                done: span.done,
                share: audience > 0 ? min(1, Double(done) / Double(audience)) : 0)
        }
        self.init(dimension: .time, rows: rows)
    }

    /// The maximum number of rows of the table.
    private static let mostRows = 40

    func text(_ style: TextStyle) -> String {
        guard !rows.isEmpty else { return "\nno device has been sent to\n" }
        var table = Table([
            dimension.rawValue.uppercased(): .left, "SENT": .right, "DONE": .right, "SHARE": .right,
        ])
        for row in rows.prefix(Self.mostRows) {
            let tenths = Int(clamping: (row.share * 1000).rounded())
            table.add(
                .init(row.name), .number(row.sent), .number(row.done, .green),
                .init("\(tenths / 10).\(tenths % 10) %"))
        }
        let rest = rows.count - Self.mostRows
        return "\n" + table.text(style)
            + (rest > 0 ? "and \(Figures.counted(rest, "more row", "more rows")) (--json)\n" : "")
    }

    var json: JSONValue {
        .object([
            "by": .string(dimension.rawValue),
            "rows": .array(
                rows.map { row in
                    .object([
                        "name": .string(row.name), "sent": .number(row.sent), "done": .number(row.done),
                        "share": .decimal(row.share),
                    ])
                }),
        ])
    }
}

/// Counts the rows of a breakdown from the bits of the campaign and the bitmaps of the registry, chunk by chunk.
@Loop struct CampaignBreakdownReader {
    /// The number of values whose bitmaps of a chunk are in memory at the same time.
    private static let valuesAtOnce = 64
    /// The row of the devices that have none of the values, for example because they were removed.
    private static let others = "(other)"

    let client: FarmClient
    let stored: StoredCampaign

    private typealias Counts = [String: (sent: Int, done: Int)]

    func read(
        by dimension: CampaignBreakdown.Dimension
    ) async throws(CommandFailure) -> CampaignBreakdown {
        let record = stored.record
        if dimension == .time {
            return CampaignBreakdown(times: record.times, audience: record.counts[.audience, 1])
        }
        let cohorts = dimension == .cohort ? try cohortCells() : nil
        if dimension.attribute != nil, record.definition.contains("\"list\"".utf8),
            case .list = try definition().audience
        {
            throw .failed("rows of a list have no \(dimension.rawValue) here; use --by cohort or --by round")
        }
        var registry: (reader: RegistryReader, states: [PartitionState])?
        if dimension.attribute != nil {
            let reader = try await client.registry(of: stored.app)
            registry = (
                reader, try await client.read { () throws(StoreError) in try await reader.partitions() }
            )
        }
        var counts: Counts = [:]
        for (partition, limit) in record.audienceEnds.enumerated() {
            for chunk in 0..<(limit + OrdinalChunk.size - 1) / OrdinalChunk.size {
                let (rounds, done) = try await bits(partition, chunk)
                var sent = OrdinalChunk()
                for round in rounds { sent.formUnion(round) }
                guard !sent.isEmpty else { continue }
                if dimension == .round {
                    for (index, round) in rounds.enumerated() {
                        Self.add(round, done, "\(index + 1)", &counts)
                    }
                } else if let cohorts {
                    for ordinal in sent.ordinals {
                        let place = chunk * OrdinalChunk.size + Int(ordinal)
                        let cohort = cohorts.cell(partition: partition, ordinal: place).cohort
                        counts["\(cohort + 1)", default: (0, 0)].sent += 1
                        if done[ordinal] { counts["\(cohort + 1)", default: (0, 0)].done += 1 }
                    }
                } else if let attribute = dimension.attribute, let registry,
                    let state = registry.states[checked: partition]
                {
                    try await count(attribute, sent, done, chunk, state, partition, registry.reader, &counts)
                }
            }
        }
        return CampaignBreakdown(dimension: dimension, rows: Self.rows(counts, dimension))
    }

    /// The number of handled devices that background pushes may not reach, by what the devices report now.
    ///
    /// - Returns: nil if the campaign sends no background pushes, or if its audience is a list.
    func unreachable() async throws(CommandFailure) -> Int? {
        let campaign = try definition()
        guard campaign.isBackground else { return nil }
        if case .list = campaign.audience { return nil }
        let reader = try await client.registry(of: stored.app)
        let states = try await client.read { () throws(StoreError) in try await reader.partitions() }
        let today = try await client.today()
        var count = 0
        for (state, (partition, limit)) in zip(states, stored.record.audienceEnds.enumerated()) {
            let plan = SegmentPlan([.unreachable], state.attributes, today: today)
            guard !plan.numbers.isEmpty else { continue }
            for chunk in 0..<(limit + OrdinalChunk.size - 1) / OrdinalChunk.size {
                let evaluation = try await client.read { () throws(StoreError) in
                    try await reader.evaluation(of: plan, partition: partition, chunk: chunk)
                }
                guard let evaluation else {
                    throw .failed("the bitmaps of partition \(partition), chunk \(chunk) cannot be read")
                }
                let unreachable = evaluation.devices()
                // Few chunks have such devices, and only their bits of the campaign are read.
                guard !unreachable.isEmpty else { continue }
                var sent = OrdinalChunk()
                for round in try await bits(partition, chunk).rounds { sent.formUnion(round) }
                sent.formIntersection(unreachable)
                count += sent.count
            }
        }
        return count
    }

    private static func rows(
        _ counts: Counts, _ dimension: CampaignBreakdown.Dimension
    ) -> [CampaignBreakdown.Row] {
        let rows = counts.map {
            CampaignBreakdown.Row(name: $0.key, sent: $0.value.sent, done: $0.value.done)
        }
        if dimension == .cohort || dimension == .round {
            return rows.sorted { (Int(foreign: $0.name) ?? 0) < (Int(foreign: $1.name) ?? 0) }
        }
        return rows.sorted { ($1.sent, $0.name) < ($0.sent, $1.name) }
    }

    private static func add(
        _ sent: OrdinalChunk, _ done: OrdinalChunk, _ name: String, _ counts: inout Counts
    ) {
        guard !sent.isEmpty else { return }
        var both = sent
        both.formIntersection(done)
        let old = counts[name] ?? (0, 0)
        counts[name] = (old.sent + sent.count, old.done + both.count)
    }

    private func definition() throws(CommandFailure) -> Campaign {
        let zones = CampaignZones()
        try zones.check()
        return try stored.definition(zones)
    }

    /// The cells of the campaign's cohorts, without its stages.
    private func cohortCells() throws(CommandFailure) -> AudienceCells {
        let campaign = try definition()
        return AudienceCells(campaign.schedule, salt: campaign.salt(id: stored.id), round: 2)
    }

    /// The devices of a chunk that each round has handled, and those that are done. Unreadable bits count as none.
    private func bits(
        _ partition: Int, _ chunk: Int
    ) async throws(CommandFailure) -> (rounds: [OrdinalChunk], done: OrdinalChunk) {
        let rounds = (0..<stored.record.counts.rounds).map { CampaignBits.sent(round: $0 + 1) }
        let keys = (rounds + [.done]).map { $0.key(of: stored.id, partition: partition, chunk: chunk) }
        let strings = try await client.call(ReadStrings(keys), stored.app)
        let bits = strings.map { bytes in bytes.flatMap { OrdinalChunk(bytes: $0) } ?? OrdinalChunk() }
        return (Array(bits.dropLast()), bits.last ?? OrdinalChunk())
    }

    private func count(
        _ attribute: SegmentTerm.Attribute, _ sent: OrdinalChunk, _ done: OrdinalChunk, _ chunk: Int,
        _ state: PartitionState, _ partition: Int, _ reader: RegistryReader, _ counts: inout Counts
    ) async throws(CommandFailure) {
        let prefix = AttributeName(attribute, "").text
        let values = state.names.all.compactMap { name, _ in
            name.text.utf8.starts(with: prefix.utf8)
                ? String(decoding: name.text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self) : nil
        }.sorted()
        let today = try await client.today()
        var rest = sent
        for start in stride(from: 0, to: values.count, by: Self.valuesAtOnce) {
            let part = Array(values[start..<min(start + Self.valuesAtOnce, values.count)])
            let plan = SegmentPlan(
                part.map { .term(.value(attribute, $0)) }, state.attributes, today: today)
            let evaluation = try await client.read { () throws(StoreError) in
                try await reader.evaluation(of: plan, partition: partition, chunk: chunk)
            }
            guard let evaluation else { continue }
            for (index, value) in part.enumerated() {
                var devices = evaluation.devices(of: index)
                devices.formIntersection(sent)
                Self.add(devices, done, value, &counts)
                rest.subtract(devices)
            }
        }
        Self.add(rest, done, Self.others, &counts)
    }
}
