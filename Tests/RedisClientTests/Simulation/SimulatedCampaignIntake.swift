import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// The part of an intake that runs campaigns: it adds pushes of devices that have no bit yet, one step after the other.
///
/// Some devices of a campaign have no address. Such a device gets the content of the campaign if a step of another campaign comes
/// first and merges the content, and counts as unsendable if a step of its own campaign comes first. Devices that are done get no
/// push, and devices that got all pushes of the cap are capped.
final class SimulatedCampaignIntake {
    private unowned let simulation: Simulation
    private var served: FenceToken?
    /// The last steps of the campaigns that the process has read, by number of the job.
    private var steps: [Int: LastStep] = [:]
    /// The last step, if it got no reply. The process repeats this step before it does anything else.
    private var unanswered: Step?

    private struct LastStep {
        var number: Int
        var name: String
    }

    private struct Step {
        let request: StoreCampaignStep
        let job: Int
        /// The job of the campaign whose content the step merges.
        let merged: Int?
    }

    init(_ simulation: Simulation) { self.simulation = simulation }

    func step(_ token: FenceToken) throws {
        // A new process of the same host has the same fencing token.
        if token != served || (!simulation.isQuiet && simulation.chance(3)) { restart(token) }
        do {
            if unanswered == nil {
                guard let job = simulation.pick(simulation.jobs.filter { $0.devices != nil }) else { return }
                if steps[job.number] == nil { try read(job, token) }
                unanswered = try plan(job, token)
            }
            if let unanswered { try store(unanswered, token) }
        } catch StoreError.fenced(let lease) {
            restart(nil)
            throw StoreError.fenced(lease: lease)
        } catch StoreError.outOfStep {
            restart(token)
        }
    }

    /// Ends the process.
    func end() { restart(nil) }

    private func restart(_ token: FenceToken?) {
        if let unanswered, simulation.jobs[unanswered.job].isCapped { simulation.mayHaveOldCounts = true }
        (served, steps, unanswered) = (token, [:], nil)
    }

    private func read(_ job: SimulatedJob, _ token: FenceToken) throws {
        guard let id = job.id, let record = try simulation.attempt(ReadCampaign(id)) else { return }
        switch record.text("state") {
        case "scheduled":
            _ = try simulation.attempt(
                ChangeCampaign.begin(id, token: token, name: simulation.name("change"), fields: []))
        case "running":
            steps[job.number] = LastStep(number: record.number("step"), name: record.text("did"))
        default: return
        }
    }

    private func store(_ step: Step, _ token: FenceToken) throws {
        guard let reply = try simulation.attempt(step.request) else { return }
        unanswered = nil
        switch reply {
        case .done, .doneBefore:
            let (number, name) = (step.request.step, step.request.name)
            steps[step.job] = step.request.ending == nil ? LastStep(number: number, name: name) : nil
            if let merged = step.merged, let last = steps[merged] {
                steps[merged] = LastStep(number: last.number + 1, name: name)
            }
        case .paused, .full: steps[step.job] = nil
        case .mergedUnavailable: if let merged = step.merged { steps[merged] = nil }
        case .cancelled:
            var ending = StoreCampaignStep(
                token: token, campaign: step.request.campaign, step: step.request.step,
                after: step.request.lastStep, name: simulation.name("step"))
            ending.ending = .cancelled
            _ = try simulation.attempt(ending)
            steps[step.job] = nil
        }
    }

    private func plan(_ job: SimulatedJob, _ token: FenceToken) throws -> Step? {
        guard let step = steps[job.number], let id = job.id, let devices = job.devices,
            var sent = try bits(.sent(round: 1), of: id), let done = try bits(.done, of: id)
        else { return nil }
        var counts = CapNumbers([])
        if job.isCapped {
            guard let strings = try simulation.attempt(ReadStrings(CapNumbers.keys)) else { return nil }
            counts = CapNumbers(strings)
        }
        var request = StoreCampaignStep(
            token: token, campaign: id, step: step.number + 1, after: step.name,
            name: simulation.name("step"))
        let waiting = devices.indices.filter { !sent.contains($0) && !done.contains($0) }
        let next = Array(waiting.prefix(1 + simulation.below(8)))
        for ordinal in next { sent.insert(ordinal) }
        var (packer, capped) = (SimulatedPacker(), 0)
        for ordinal in next {
            guard let token = devices[ordinal] else { continue }
            if job.isCapped, !counts.add(ordinal) {
                capped += 1
            } else {
                packer.add(job, id: id, token..<token + 1)
            }
        }
        request.batches = packer.batches
        request.counts = [("unsendable:1", next.count { devices[$0] == nil }), ("capped:1", capped)]
        request.strings = Self.strings(of: id, sent) + (job.isCapped ? counts.strings : [])
        if next.count == waiting.count {
            request.ending = .finished
            let excluded = devices.count - sent.count
            request.counts += [("excluded:1", excluded), ("unhandled:1", excluded)]
        }
        guard !job.isCapped else { return Step(request: request, job: job.number, merged: nil) }
        let merged = try merge(next.filter { devices[$0] != nil }, of: job, into: &request)
        return Step(request: request, job: job.number, merged: merged)
    }

    /// Adds content of another campaign to a step.
    ///
    /// - Parameter reached: the devices that get a push with the step.
    /// - Returns: the job of the other campaign; nil if no device needs the content of the other campaign.
    private func merge(
        _ reached: [Int], of job: SimulatedJob, into request: inout StoreCampaignStep
    ) throws -> Int? {
        let others = simulation.jobs.filter {
            $0.number != job.number && !$0.isCapped && steps[$0.number] != nil
        }
        guard let other = simulation.pick(others), let step = steps[other.number], let id = other.id,
            let devices = other.devices, var sent = try bits(.sent(round: 1), of: id)
        else { return nil }
        let due = reached.filter { $0 < devices.count && devices[$0] == nil && !sent.contains($0) }
        guard !due.isEmpty else { return nil }
        for ordinal in due { sent.insert(ordinal) }
        request.merged = [
            .init(
                campaign: id, step: step.number, lastStep: step.name, fields: ["progress": "{}"],
                counts: ["merged:1": due.count])
        ]
        request.strings += Self.strings(of: id, sent)
        return other.number
    }

    /// The bits of a campaign's devices; nil if no reply arrived.
    private func bits(_ kind: CampaignBits, of id: String) throws -> OrdinalBits? {
        try simulation.attempt(ReadStrings(Self.keys(kind, of: id))).map(OrdinalBits.init)
    }

    private static func strings(of id: String, _ sent: OrdinalBits) -> [StoreCampaignStep.StoredString] {
        keys(.sent(round: 1), of: id).enumerated().map {
            .init(key: $0.element, bytes: sent.bytes(ofPartition: $0.offset))
        }
    }

    private static func keys(_ kind: CampaignBits, of id: String) -> [String] {
        (0..<2).map { kind.key(of: id, partition: $0, chunk: 0) }
    }
}

/// How many pushes of campaigns with a cap each device got: for each device its ordinal and the number, one byte each.
private struct CapNumbers {
    static let keys = (0..<2).map { "caps:caps:week:0:0\($0):0" }
    private var numbers: [Int: Int] = [:]

    /// - Parameter strings: one string for each partition.
    init(_ strings: [[UInt8]?]) {
        for (partition, bytes) in strings.enumerated() {
            for index in stride(from: 0, to: bytes?.count ?? 0, by: 2) {
                numbers[Int(bytes?[index] ?? 0) * 2 + partition] = Int(bytes?[index + 1] ?? 0)
            }
        }
    }

    /// Counts a push.
    ///
    /// - Returns: false, without a change, if the device got as many pushes as the cap allows.
    mutating func add(_ device: Int) -> Bool {
        guard numbers[device, default: 0] < SimulatedJob.cap else { return false }
        numbers[device, default: 0] += 1
        return true
    }

    var strings: [StoreCampaignStep.StoredString] {
        Self.keys.enumerated().map { partition, key in
            let devices = numbers.keys.filter { $0 % 2 == partition }.sorted()
            return .init(
                key: key, bytes: devices.flatMap { [UInt8($0 / 2), UInt8(numbers[$0] ?? 0)] })
        }
    }
}

/// The bits of a campaign whose devices are in two partitions, alternately.
private struct OrdinalBits {
    private var partitions: [Set<Int>] = [[], []]

    /// - Parameter strings: two strings in the sparse or the dense form.
    init(_ strings: [[UInt8]?]) {
        for (partition, bytes) in strings.enumerated() {
            if let bytes, bytes.count == 8192 {
                partitions[partition] = Set((0..<256).filter { bytes[$0 / 8] & (128 >> UInt8($0 % 8)) != 0 })
                continue
            }
            for index in stride(from: 0, to: bytes?.count ?? 0, by: 2) {
                partitions[partition].insert(Int(bytes?[index + 1] ?? 0))
            }
        }
    }

    var count: Int { partitions.reduce(0) { $0 + $1.count } }

    func contains(_ device: Int) -> Bool { partitions[device % 2].contains(device / 2) }

    mutating func insert(_ device: Int) { partitions[device % 2].insert(device / 2) }

    func bytes(ofPartition partition: Int) -> [UInt8] {
        partitions[partition].sorted().flatMap { [0, UInt8($0)] }
    }
}

extension [String: [UInt8]] {
    func text(_ field: String) -> String { String(decoding: self[field] ?? [], as: UTF8.self) }

    func number(_ field: String) -> Int { Int(text(field)) ?? 0 }
}
