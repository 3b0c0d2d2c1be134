@testable import RedisClient
@testable import StoreProtocol

/// The part of an intake that changes one partition of the registry: each call sets two values to the partition's new version.
final class SimulatedRegistryWriter {
    private static let keys = Keys(app: "demo", partition: 0)

    private unowned let simulation: Simulation
    /// The version of the partition; nil if it must be read.
    private var version: Int?
    /// The last call, if it got no reply. The writer repeats this call before it does anything else.
    private var unanswered: ApplyChanges?

    init(_ simulation: Simulation) { self.simulation = simulation }

    /// Makes one call.
    func step() throws {
        do {
            guard let version else { return try read() }
            let call = unanswered ?? plan(version)
            unanswered = call
            guard let next = try simulation.attempt(call, in: Self.keys) else { return }
            (self.version, unanswered) = (next, nil)
        } catch StoreError.stale {
            (version, unanswered) = (nil, nil)
        }
    }

    private func read() throws {
        let request = ReadFields(key: "meta", fields: [Array("version".utf8)])
        guard let fields = try simulation.attempt(request, in: Self.keys) else { return }
        version = fields.first.flatMap { $0 }.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
    }

    private func plan(_ version: Int) -> ApplyChanges {
        let value = Array("\(version + 1)".utf8)
        return ApplyChanges(
            version: version, name: simulation.name("apply"),
            changes: [
                PartitionChange(.setFields, "meta", [Array("devices".utf8), value]),
                PartitionChange(.setString, "bits:0:0", [value]),
            ])
    }
}
