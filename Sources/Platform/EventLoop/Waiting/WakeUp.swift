/// Runs work once for any number of wake-ups: they set a flag and do not queue.
///
/// One run at a time. Wake-ups during a run cause one more run.
@Loop package final class WakeUp {
    private let work: @Loop () async -> Void
    private var isWanted = false
    private var isRunning = false

    package init(_ work: @escaping @Loop () async -> Void) { self.work = work }

    package func callAsFunction() {
        isWanted = true
        guard !isRunning else { return }
        isRunning = true
        Loop.task {
            while self.isWanted {
                self.isWanted = false
                await self.work()
            }
            self.isRunning = false
        }
    }
}
