import EventLoop

extension Coordinator {
    /// What is done again and again, until it is cancelled.
    func routines() -> [Task<Void, Never>] {
        let patience = ContinuousClock.now + .seconds(30)
        return [
            Loop.task { await self.keepLeasesOn() },
            loop(every: .seconds(1)) { [unowned self] in await beat() },
            loop(every: .seconds(1)) { [unowned self] in await pressure.beat(apps.values) },
            loop(every: .seconds(2)) { [unowned self] in
                for app in apps.values { await app.credentials.look() }
            },
            loop(every: .seconds(5)) { [unowned self] in await sweep() },
            loop(every: .seconds(5)) { [unowned self] in
                // A word that was lost is made good.
                await lookForOperations()
                await follow()
            },
            loop(every: BacklogMonitor.interval) { [unowned self] in
                await appWatch.look(at: apps.values, isFirstHost: isFirstHost)
            },
            loop(every: .seconds(1)) { [unowned self] in
                // Of workers that did not read.
                tellHeardShards()
                probe.ask()
                lookForAlerts()
            },
            loop(every: .seconds(3)) { [unowned self] in await lookForGoneHosts() },
            loop(every: .seconds(1)) { [unowned self] in await lookForStrayInboxes() },
            loop(every: .seconds(5)) { [unowned self] in await forgetApps() },
            loop(every: .seconds(1)) { [unowned self] in
                // A reading that nobody can do counts as failed, and workers take a moment to begin.
                guard slots.contains(where: \.isReady) || ContinuousClock.now > patience else { return }
                for app in apps.values { await app.lookAfterFeedback() }
            },
            loop(every: .seconds(600)) { [unowned self] in
                for app in apps.values {
                    await app.dropOldSuppressed()
                    await app.dropOldLetters()
                }
            },
        ]
    }

    private func loop(every interval: Duration, _ body: @escaping @Loop () async -> Void) -> Task<Void, Never>
    {
        Loop.task {
            while (try? await Loop.sleep(for: interval)) != nil { await body() }
        }
    }
}
