import EventLoop
import FarmPolicy

/// `scale`: changes how many workers this host runs.
@Loop struct ScaleOperation {
    unowned let context: HostContext

    func run(_ text: String, _ isDry: Bool, _ operation: RunningCommand) async throws(OperationRefusal)
        -> String
    {
        let workers = try parse(text)
        let before = context.scaling.isAuto ? "auto, \(size) now" : "\(size)"
        if isDry { return "would go from \(before) to \(workers.text)" }
        return try await context.operationLock.run("scale") { () async throws(OperationRefusal) in
            let isStored = await context.desired.setScale(text == "default" ? nil : workers.text)
            let note = isStored ? "" : "; not stored, because Redis is unreachable: repeat it later"
            context.scaling.set(workers)
            wakeWorkers()
            guard case .fixed(let number) = workers else {
                return "as many workers as the load needs, at most \(context.scaling.mostAuto)" + note
            }
            try await waitForWorkers(number, operation)
            return "\(number) worker\(number == 1 ? "" : "s") (before: \(before))" + note
        }
    }

    private var size: Int { context.shards.placement.size }

    /// Resumes the host if it is quiet. Starts stopped workers, and makes drained and quiet workers serve their shards
    /// again.
    private func wakeWorkers() {
        if context.lifecycle.participation == .quiet { context.participation.resume() }
        for slot in context.fleet.slots.prefix(size) {
            if slot.child.state == .stopped, slot.child.pid == 0 { slot.child.startAgain() }
        }
        context.shards.resume(0..<size)
    }

    private func waitForWorkers(_ number: Int, _ operation: RunningCommand) async throws(OperationRefusal) {
        let isDone = await context.changes.until(.now + .seconds(60)) {
            operation.progress("\(context.fleet.slots.count { $0.child.pid > 0 }) of \(number) workers")
            let isRight =
                size != number
                || context.shards.placement.active == number
                    && context.fleet.slots.prefix(number).allSatisfy(\.child.isReady)
                    && context.fleet.slots.dropFirst(number).allSatisfy { $0.child.pid == 0 }
            return isRight || context.lifecycle.isStopping
        }
        guard size == number else {
            throw .failed("only \(size) workers run, and the others do not start: see the log")
        }
        guard isDone else { throw .failed("after 60 s, some workers have not started or not stopped yet") }
    }

    private func parse(_ text: String) throws(OperationRefusal) -> DesiredWorkers {
        if text == "default" { return context.scaling.configured }
        if let step = text.first, step == "+" || step == "-", let by = Int(foreign: text) {
            return .fixed(context.scaling.changed(by: by))
        }
        let most = context.scaling.mostWorkers
        guard let workers = DesiredWorkers(text) else {
            throw OperationRefusal(DesiredWorkers.problem(text, most: most))
        }
        if case .fixed(let number) = workers, number > most {
            throw OperationRefusal(
                "this machine supports at most \(most) workers (\(DesiredWorkers.workersPerProcessor) a processor, 64 MB each), unless its configuration sets more"
            )
        }
        return workers
    }
}
