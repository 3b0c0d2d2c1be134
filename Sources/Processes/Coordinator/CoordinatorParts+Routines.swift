import EventLoop

extension CoordinatorParts {
    /// Starts the periodic work, which runs until the tasks are cancelled.
    func startRoutines() -> [Task<Void, Never>] {
        let feedbackStart = ContinuousClock.now + .seconds(30)
        return [
            Loop.task { await leases.run() },
            each(.seconds(1)) { await registration.sendHeartbeat() },
            each(.seconds(1)) { await pressure.update(apps.all) },
            each(.seconds(2)) { for app in apps.all { await app.credentials.refresh() } },
            each(.seconds(5)) { for app in apps.all { await app.reclaimUnknownBatches() } },
            each(.seconds(5)) {
                // Announcements may have been lost.
                await operations.read()
                await desired.follow()
            },
            each(BacklogMonitor.interval) {
                await backlog.update(of: apps.all, isFirstHost: registration.isFirstHost)
            },
            each(.seconds(1)) {
                // Workers that did not read their orders get them now.
                wakeUps.send()
                probe.ask()
                alertObservations.evaluate()
            },
            each(.seconds(3)) { await missingHosts.update() },
            each(.seconds(1)) { await unknownApps.searchInboxes() },
            each(.seconds(5)) { await unknownApps.forgetApps() },
            each(.seconds(1)) {
                // Without a worker a reading of the feedback service would count as failed, and workers take a moment to start.
                guard fleet.isAnyWorkerReady || ContinuousClock.now > feedbackStart else { return }
                for app in apps.all { await app.readFeedbackIfDue() }
            },
            each(.seconds(600)) {
                for app in apps.all {
                    await app.dropOldSuppressed()
                    await app.dropOldDeadLetters()
                }
            },
        ]
    }

    private func each(_ interval: Duration, _ body: @escaping @Loop () async -> Void) -> Task<Void, Never> {
        Loop.task {
            while (try? await Loop.sleep(for: interval)) != nil { await body() }
        }
    }
}
