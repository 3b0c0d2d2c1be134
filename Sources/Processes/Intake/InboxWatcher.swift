import EventLoop
import RedisClient
import StoreProtocol

/// Waits for the next job in an inbox, on a connection that blocks in Redis.
@Loop final class InboxWatcher {
    private let app: String
    private let settings: RedisSettings
    private var connection: RedisConnection?

    /// As long as Redis blocks: the safety net's interval.
    private static let longest = Duration.seconds(5)
    /// Between two reads while there is no connection to wait on.
    private static let pause = Duration.milliseconds(50)

    init(app: String, settings: RedisSettings) {
        (self.app, self.settings) = (app, settings)
    }

    /// The next job, which Redis has moved out of the inbox; nil: read the taken jobs, for one may have been moved.
    func next() async -> [UInt8]? {
        let connection = connection ?? open()
        if connection.isReady {
            let store = AppStore(app: app, connection: connection)
            do throws(StoreError) { return try await store.perform(NextJob(timeout: Self.longest)) } catch {}
        }
        _ = try? await Loop.sleep(for: Self.pause)
        return nil
    }

    /// Ends a wait that is under way.
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
