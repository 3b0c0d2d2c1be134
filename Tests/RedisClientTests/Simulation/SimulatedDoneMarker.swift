@testable import RedisClient
@testable import StoreProtocol

/// The part of an intake that takes reports of done devices, and marks the devices. A report is the number of a campaign and the
/// numbers of its devices.
final class SimulatedDoneMarker {
    private unowned let simulation: Simulation
    private var served: FenceToken?
    private var taken: TakeInputs.Reply?
    /// How many of the taken reports are marked.
    private var marked = 0

    init(_ simulation: Simulation) { self.simulation = simulation }

    /// Makes one call.
    func step(_ token: FenceToken) throws {
        // A new process of the same host has the same fencing token.
        if token != served || (!simulation.isQuiet && simulation.chance(5)) { restart(token) }
        do {
            guard let taken else { return try take(token) }
            if marked < taken.inputs.count {
                guard try simulation.attempt(Self.mark(taken.inputs[marked], token)) != nil else { return }
                marked += 1
            } else {
                let request = FinishInputs(
                    .done, token: token, step: taken.step + 1, finished: taken.inputs.count)
                if try simulation.attempt(request) != nil { self.taken = nil }
            }
        } catch StoreError.fenced(let lease) {
            restart(nil)
            throw StoreError.fenced(lease: lease)
        } catch StoreError.outOfStep {
            restart(token)
        } catch StoreError.takenJobsDiffer {
            restart(token)
        }
    }

    private func restart(_ token: FenceToken?) { (served, taken, marked) = (token, nil, 0) }

    private func take(_ token: FenceToken) throws {
        let most = 1 + simulation.below(4)
        let request = TakeInputs(
            .done, token: token, maxInputs: most, maxBytes: 1000, maxInputBytes: 1000)
        guard let reply = try simulation.attempt(request), !reply.inputs.isEmpty else { return }
        (taken, marked) = (reply, 0)
    }

    private static func mark(_ report: [UInt8], _ token: FenceToken) -> MarkDone {
        let numbers = String(decoding: report, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        let devices = numbers.dropFirst()
        let chunks = (0..<2).map { partition in
            (partition, 0, devices.filter { $0 % 2 == partition }.map { $0 / 2 }) as MarkDone.Chunk
        }
        return MarkDone(
            token: token, campaign: "campaign-\(numbers.first ?? 0)",
            chunks: chunks.filter { !$0.bits.isEmpty })
    }
}
