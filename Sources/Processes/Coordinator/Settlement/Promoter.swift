import EventLoop
import StoreProtocol

/// Moves delayed batches to the ready lists when their start or retry is due.
///
/// Every host runs one promoter for each app. Redis moves each batch only once, even if several promoters ask.
@Loop final class Promoter {
    private let context: AppContext
    private let wakeUp = AsyncEvent()
    private var task: Task<Void, Never>?
    /// When to check for due batches next, in milliseconds of the loop's clock.
    private var due: UInt64 = 0
    private var isInTrouble = false

    /// The longest time between two checks. The limit is necessary, because this host does not know when the batches are due that
    /// other hosts have delayed.
    private static let poll: UInt64 = 1000

    init(_ context: AppContext) {
        self.context = context
        context.onDelayedBatches = { [weak self] in self?.wake(earliest: $0) }
    }

    func start() {
        guard task == nil else { return }
        task = Loop.task { await self.run() }
    }

    func stop() async {
        task?.cancel()
        wakeUp.signal()
        await task?.value
        task = nil
    }

    /// Schedules a check after batches were delayed; `earliest` is the time until the first batch is due.
    func wake(earliest: Duration) {
        let moment = Loop.milliseconds + earliest.milliseconds
        guard moment < due else { return }
        due = moment
        wakeUp.signal()
    }

    private func run() async {
        while !Task.isCancelled {
            let now = Loop.milliseconds
            if now < due {
                await wakeUp.wait(atMost: .milliseconds(due - now))
            } else {
                await promote(now)
            }
        }
    }

    private func promote(_ now: UInt64) async {
        due = now + Self.poll
        do throws(StoreError) {
            let reply = try await context.store.perform(PromoteDue())
            if let next = reply.nextDue { due = min(due, Loop.milliseconds + next.milliseconds) }
            if !reply.woken.isEmpty { context.shardsReady(reply.woken) }
            isInTrouble = false
        } catch {
            if !isInTrouble {
                context.log.warning("delayed batches wait for Redis", error: error)
            }
            isInTrouble = true
        }
    }
}
