import EventLoop
import RedisClient
import StoreProtocol

/// Waits for the next entry of a list that producers write. The watcher uses a blocking Redis command, and so has its
/// own connection.
@Loop final class InboxWatcher<Wait: Request> {
    private let app: String
    private let settings: RedisSettings
    private let request: Wait
    private var connection: RedisConnection?

    /// - Parameter request: waits for the next entry, and moves the entry to the entries that the intake has taken.
    init(app: String, settings: RedisSettings, _ request: Wait) {
        (self.app, self.settings, self.request) = (app, settings, request)
    }

    /// Waits for the next entry, which Redis moves out of the list. If the result is nil, read the taken entries, because
    /// Redis may have moved an entry.
    func next() async -> Wait.Reply? {
        let connection = connection ?? open()
        if connection.isReady {
            let store = AppRedis(app: app, connection: connection)
            do throws(StoreError) { return try await store.perform(request) } catch {
                // After any error, it is unknown whether Redis has moved an entry. So this function returns nil, and
                // the caller reads the taken entries. If the error persists, this read fails too, and reports the
                // error.
            }
        }
        // If the task is cancelled, the sleep ends early, and the caller ends.
        _ = try? await Loop.sleep(for: WatchTimes.pause)
        return nil
    }

    /// Ends the current wait and closes the connection.
    func close() {
        connection?.close()
        connection = nil
    }

    private func open() -> RedisConnection {
        let connection = RedisConnection(settings)
        connection.start()
        self.connection = connection
        return connection
    }
}

/// The times of an ``InboxWatcher``.
enum WatchTimes {
    /// The maximum time for which the Redis command blocks. After this time, the intake reads the taken entries even if no
    /// entry has arrived.
    static let longest = Duration.seconds(5)
    /// The time between two reads of the taken entries while the watcher has no connection.
    static let pause = Duration.milliseconds(50)
}

/// Limits which apps handle their jobs at the same time.
///
/// While the jobs of any app are split one by one, only one app works at a time. So if the process crashes, only one
/// job is a suspect.
@Loop final class SuspectJobIsolation {
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

    /// Sets whether the app's jobs are split one by one.
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
