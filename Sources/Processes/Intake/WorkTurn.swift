import EventLoop

/// Which apps are at work on their jobs.
///
/// While jobs of any app go one by one, one app works at a time: an end of the process then accuses one job.
@Loop final class WorkTurn {
    private var oneByOne: Set<String> = []
    private var working: Set<String> = []
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits until the app may work.
    func begin(_ app: String) async {
        while !oneByOne.isEmpty, !working.isEmpty {
            await withCheckedContinuation { waiting.append($0) }
        }
        working.insert(app)
    }

    func end(_ app: String) {
        working.remove(app)
        wake()
    }

    /// Says whether the app's jobs go one by one.
    func set(_ app: String, isOneByOne: Bool) {
        if isOneByOne {
            oneByOne.insert(app)
        } else {
            oneByOne.remove(app)
            wake()
        }
    }

    private func wake() {
        let all = waiting
        waiting = []
        for waiter in all { waiter.resume() }
    }
}
