import ControlChannel
import EventLoop

/// Tells workers which of their shards have batches or changed suppressions, each shard once however often it was announced.
@Loop final class ShardWakeUps {
    private let fleet: WorkerFleet
    private let shards: ShardDistribution
    private var pending: PendingShards
    private lazy var sendSoon = WakeUp { [unowned self] in send() }

    init(_ context: HostContext, _ fleet: WorkerFleet, _ shards: ShardDistribution) {
        (self.fleet, self.shards) = (fleet, shards)
        pending = PendingShards(shards: context.shards)
    }

    /// Notes shards that have batches.
    func note(_ numbers: some Sequence<Int>, of app: String) {
        pending.note(numbers, .ready, app: app)
        sendSoon()
    }

    /// Notes the shards that a message names.
    /// - Returns: false if it also names shards that do not exist.
    func note(_ message: String, of app: String) -> Bool {
        defer { sendSoon() }
        return pending.note(message, app: app)
    }

    /// Sends each worker its shards. A worker that does not read its orders gets them in a later call.
    func send() {
        for (topic, app, numbers) in pending.takeAll() {
            for slot in fleet.readySlots {
                let its = numbers.filter { shards.placement.place(of: $0) == slot.index }
                guard !its.isEmpty else { continue }
                guard !slot.lags else {
                    pending.note(its, topic, app: app)
                    continue
                }
                let numbers = its.compactMap { UInt16(exactly: $0) }
                switch topic {
                case .ready: slot.send(.batchesReady(app: app, shards: numbers))
                case .suppressed: slot.send(.suppressed(app: app, shards: numbers))
                }
            }
        }
    }
}
