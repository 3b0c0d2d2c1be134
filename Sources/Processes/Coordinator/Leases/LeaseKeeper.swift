import EventLoop
import Leasing

/// Renews the leases of all apps in time, and tells the workers the time until which they may start pushes.
@Loop final class LeaseKeeper {
    private unowned let context: HostContext
    private var rounds = LeaseRounds(now: .now)
    /// Ends the delay between two rounds.
    private let wakeUp = AsyncEvent()
    /// The number of lost leases of apps that were removed later.
    private var lostByRemovedApps = 0

    /// The number of apps whose leases are renewed at the same time.
    private static let appsAtOnce = 16

    init(_ context: HostContext) { self.context = context }

    /// The time until which workers may start pushes, by the clock that the host's processes share.
    var end: UInt64 { rounds.sendDeadline.end }

    /// The number of leases that were lost or have expired since the start.
    var lost: Int { context.apps.all.reduce(lostByRemovedApps) { $0 + $1.leases.lost } }

    /// Renews all leases in time until the task is cancelled. If the leases of one app are due earlier, for example
    /// because a host joined or left, only the leases of this app are renewed.
    func run() async {
        while !Task.isCancelled {
            let now = ContinuousClock.now
            if rounds.isRenewalDue(at: now) {
                await renewAll()
            } else {
                for app in context.apps.all where app.leases.machine.isDue(at: now) {
                    _ = await app.leases.runRound()
                }
            }
            let isPressing = context.apps.all.contains { $0.leases.machine.isDue(at: .now) }
            await wakeUp.wait(atMost: rounds.pause(isPressing: isPressing, at: .now))
        }
    }

    func renewAll() async {
        rounds.begin(at: .now)
        let start = BootClock.milliseconds
        let isConfirmed = await runAllRounds()
        switch rounds.ended(isConfirmed: isConfirmed, from: start, to: BootClock.milliseconds, at: .now) {
        case .granted(let end): context.fleet.sendToWorkers(.lease(end: end))
        case .pending: break
        case .expired: for app in context.apps.all { app.leases.expire() }
        }
    }

    /// Renews the leases of several apps at once. So if one app reclaims many batches, the other apps hardly wait.
    ///
    /// - Returns: whether Redis has confirmed all leases. An app whose leases Redis refuses has no leases left, and
    ///   does not count.
    private func runAllRounds() async -> Bool {
        let all = Array(context.apps.all)
        var isConfirmed = true
        for first in stride(from: 0, to: all.count, by: Self.appsAtOnce) {
            let some = all[first..<min(first + Self.appsAtOnce, all.count)]
            let rounds = some.map { app in Loop.task { await app.leases.runRound() } }
            for round in rounds where await round.value == .pending { isConfirmed = false }
        }
        return isConfirmed
    }

    func renewSoon() {
        rounds.renewSoon(at: .now)
        wakeUp.signal()
    }

    /// Ends the delay between two rounds early, so that apps whose leases are due get a round now.
    func wake() { wakeUp.signal() }

    /// Keeps the count of an app's lost leases when the app is removed.
    func noteRemoval(of app: HostedApp) { lostByRemovedApps += app.leases.lost }
}
