import EventLoop
import FarmPolicy

/// `scale`: changes how many workers this host runs.
@Loop final class ScaleOperation {
    private let context: HostContext
    private let fleet: WorkerFleet
    private let shards: ShardDistribution
    private let scaling: WorkerScaling
    private let participation: HostParticipation
    private let desired: DesiredState
    private let exclusive: ExclusiveChange

    init(
        _ context: HostContext, _ fleet: WorkerFleet, _ shards: ShardDistribution, _ scaling: WorkerScaling,
        _ participation: HostParticipation, _ desired: DesiredState, _ exclusive: ExclusiveChange
    ) {
        (self.context, self.fleet, self.shards, self.scaling) = (context, fleet, shards, scaling)
        (self.participation, self.desired, self.exclusive) = (participation, desired, exclusive)
    }

    func run(_ text: String, _ isDry: Bool, _ operation: Operation) async throws(OperationRefusal) -> String {
        let workers = try parse(text)
        let before = scaling.isAuto ? "auto, \(size) now" : "\(size)"
        if isDry { return "would go from \(before) to \(workers.text)" }
        return try await exclusive.run("scale") { () async throws(OperationRefusal) in
            let isStored = await desired.setScale(text == "default" ? nil : workers.text)
            let note = isStored ? "" : "; not kept over a restart, for Redis is away"
            scaling.set(workers)
            wakeWorkers()
            guard case .fixed(let number) = workers else {
                return "as many as the load takes, at most \(scaling.mostAuto)" + note
            }
            try await waitForWorkers(number, operation)
            return "\(number) worker\(number == 1 ? "" : "s") (before: \(before))" + note
        }
    }

    private var size: Int { shards.placement.size }

    /// `scale` also wakes stopped, drained and quiet workers.
    private func wakeWorkers() {
        if context.lifecycle.participation == .quiet { participation.resume() }
        for slot in fleet.slots.prefix(size) {
            if slot.state == .stopped, slot.pid == 0 { slot.startAgain() }
        }
        shards.wake(0..<size)
    }

    private func waitForWorkers(_ number: Int, _ operation: Operation) async throws(OperationRefusal) {
        let isDone = await context.changes.until(.now + .seconds(60)) { [unowned self] in
            operation.progress("\(fleet.slots.count { $0.pid > 0 }) of \(number) workers")
            let isRight =
                size != number
                || shards.placement.active == number && fleet.slots.prefix(number).allSatisfy(\.isReady)
                    && fleet.slots.dropFirst(number).allSatisfy { $0.pid == 0 }
            return isRight || context.lifecycle.isStopping
        }
        guard size == number else {
            throw .failed("\(size) workers: others do not start, see the log")
        }
        guard isDone else { throw .failed("not all workers are ready, or gone, after 60 s") }
    }

    private func parse(_ text: String) throws(OperationRefusal) -> DesiredWorkers {
        if text == "default" { return scaling.configured }
        if let step = text.first, step == "+" || step == "-", let by = Int(foreign: text) {
            return .fixed(scaling.changed(by: by))
        }
        let most = scaling.mostWorkers
        guard let workers = DesiredWorkers(text) else {
            throw OperationRefusal(DesiredWorkers.complaint(text, most: most))
        }
        if case .fixed(let number) = workers, number > most {
            throw OperationRefusal(
                "this machine carries at most \(most) workers (\(DesiredWorkers.workersPerProcessor) a processor, 64 MB each), unless its own configuration says more"
            )
        }
        return workers
    }
}
