import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// The part of an intake that runs campaigns: it adds pushes of devices that have no bit yet, one step after the other.
final class SimulatedCampaignIntake {
    private unowned let simulation: Simulation
    private var served: FenceToken?
    /// What the process knows about the campaigns that it has read, by number of the job.
    private var known: [Int: Known] = [:]

    /// A campaign as the process read it.
    private struct Known {
        var step: Int
        /// The bits of the campaign's devices.
        var sent: OrdinalBits
        /// The last step, if it got no reply, and the bits after it. The process repeats this step.
        var plan: (request: StoreCampaignStep, sent: OrdinalBits)?
    }

    init(_ simulation: Simulation) { self.simulation = simulation }

    func step(_ token: FenceToken) throws {
        // A new process of the same host has the same fencing token.
        if token != served || (!simulation.isQuiet && simulation.chance(3)) { (served, known) = (token, [:]) }
        guard let job = simulation.pick(simulation.jobs.filter { $0.devices != nil }) else { return }
        do {
            if known[job.number] == nil { try read(job, token) }
            try extend(job, token)
        } catch StoreError.fenced(let lease) {
            served = nil
            throw StoreError.fenced(lease: lease)
        } catch StoreError.outOfStep {
            known[job.number] = nil
        }
    }

    private func read(_ job: SimulatedJob, _ token: FenceToken) throws {
        guard let id = job.id, let record = try simulation.attempt(ReadCampaign(id)) else { return }
        switch record.text("state") {
        case "scheduled":
            _ = try simulation.attempt(
                ChangeCampaign.begin(id, token: token, name: simulation.name("change"), fields: []))
        case "running":
            guard let bits = try simulation.attempt(ReadStrings(Self.keys(of: id))) else { return }
            known[job.number] = Known(step: record.number("step"), sent: OrdinalBits(bits))
        default: return
        }
    }

    private func extend(_ job: SimulatedJob, _ token: FenceToken) throws {
        guard var known = known[job.number], let id = job.id, let devices = job.devices else { return }
        if known.plan == nil { known.plan = plan(job, id, devices, known, token) }
        self.known[job.number] = known
        guard let (request, sent) = known.plan, let reply = try simulation.attempt(request) else { return }
        (known.step, known.sent, known.plan) = (known.step + 1, sent, nil)
        switch reply {
        case .done, .doneBefore: self.known[job.number] = request.ending == nil ? known : nil
        case .paused, .full, .mergedUnavailable: self.known[job.number] = nil
        case .cancelled:
            var ending = StoreCampaignStep(
                token: token, campaign: id, step: request.step, name: simulation.name("step"))
            ending.ending = .cancelled
            _ = try simulation.attempt(ending)
            self.known[job.number] = nil
        }
    }

    private func plan(
        _ job: SimulatedJob, _ id: String, _ devices: [Int?], _ known: Known, _ token: FenceToken
    ) -> (StoreCampaignStep, OrdinalBits) {
        var request = StoreCampaignStep(
            token: token, campaign: id, step: known.step + 1, name: simulation.name("step"))
        var sent = known.sent
        let next = devices.indices.filter { !sent.contains($0) }.prefix(1 + simulation.below(20))
        for ordinal in next { sent.insert(ordinal) }
        var packer = SimulatedPacker()
        for ordinal in next {
            if let token = devices[ordinal] { packer.add(job, id: id, token..<token + 1) }
        }
        request.batches = packer.batches
        request.counts = [("unsendable:1", next.count { devices[$0] == nil })]
        request.strings = Self.keys(of: id).enumerated().map {
            .init(key: $0.element, bytes: sent.bytes(ofPartition: $0.offset))
        }
        if sent.count == devices.count { request.ending = .finished }
        return (request, sent)
    }

    private static func keys(of id: String) -> [String] {
        (0..<2).map { CampaignBits.sent(round: 1).key(of: id, partition: $0, chunk: 0) }
    }
}

/// The bits of a campaign whose devices are in two partitions, alternately.
private struct OrdinalBits {
    private var partitions: [Set<Int>] = [[], []]

    /// - Parameter strings: two strings in the sparse form.
    init(_ strings: [[UInt8]?]) {
        for (partition, bytes) in strings.enumerated() {
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
