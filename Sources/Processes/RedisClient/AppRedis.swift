package import EventLoop
import FarmPolicy
import RedisProtocol
package import StoreProtocol

/// Sends requests on an app's Redis keys. Several apps may share the connection.
@Loop package struct AppRedis {
    package let keys: Keys
    package let connection: RedisConnection

    package init(app: String, connection: RedisConnection) {
        keys = Keys(app: app)
        self.connection = connection
    }

    /// - Parameter keys: the keys of an app, or those of a partition of its registry.
    package init(keys: Keys, connection: RedisConnection) {
        (self.keys, self.connection) = (keys, connection)
    }

    /// Sends a request. The loop calls `then` exactly once. Use this function for work that is done for each batch,
    /// because such work must not suspend.
    package func send<Step: Request>(
        _ request: Step, then: @escaping @Loop (Result<Step.Reply, StoreError>) -> Void
    ) {
        #if FAILPOINTS
            sendWithFailpoints(request, then: then)
        #else
            transmit(request, then: then)
        #endif
    }

    func transmit<Step: Request>(
        _ request: Step, then: @escaping @Loop (Result<Step.Reply, StoreError>) -> Void
    ) {
        guard let script = Step.script else {
            return connection.send(request.command(keys, hash: nil), blocking: request.blocking) {
                then(reply(of: request, $0))
            }
        }
        guard let hash = connection.hash(of: script) else {
            guard connection.isReady else {
                return then(.failure(.redis(connection.lastError)))
            }
            return transmitPlainly(request, then: then)
        }
        let command = request.command(keys, hash: hash)
        connection.run(script, command, blocking: request.blocking) { then(reply(of: request, $0)) }
    }

    /// Sends the request as plain commands, because this Redis user may not run scripts. If a command fails, the
    /// request fails with the first error.
    private func transmitPlainly<Step: Request>(
        _ request: Step, then: @escaping @Loop (Result<Step.Reply, StoreError>) -> Void
    ) {
        let commands = request.plain(keys)
        guard !commands.isEmpty else { return then(.failure(.redis(.noScripts))) }
        var replies: [RESPValue] = []
        var failure: RedisError?
        func take(_ result: Result<RESPValue, RedisError>) {
            switch result {
            case .success(let reply): replies.append(reply)
            case .failure(.refused(let error)) where Step.readsErrors: replies.append(.error(error))
            case .failure(let error):
                failure = failure ?? error
                replies.append(.null)
            }
            guard replies.count == commands.count else { return }
            if let failure { return then(.failure(.redis(failure))) }
            then(Result { () throws(StoreError) in try request.readPlain(replies, keys) })
        }
        for command in commands { connection.send(command) { take($0) } }
    }

    /// Sends a request once and waits for the reply.
    package func perform<Step: Request>(_ request: Step) async throws(StoreError) -> Step.Reply {
        let result = await withCheckedContinuation { continuation in
            send(request) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Sends a request, and retries it with backoff while Redis is unreachable or cannot carry it out.
    /// - Parameter limit: the time after which no further attempt starts; nil means no limit.
    /// - Throws: an error that retries do not fix, or the last error when the limit has passed or the task is cancelled.
    package func performWithRetries<Step: Request>(
        _ request: Step, within limit: Duration? = nil
    ) async throws(StoreError) -> Step.Reply {
        var backoff = BackOff.redis
        let deadline = limit.map { ContinuousClock.now + $0 }
        while true {
            do throws(StoreError) {
                return try await perform(request)
            } catch {
                let mayRepeat = error.isTemporary && deadline.map { .now < $0 } ?? true
                guard mayRepeat, (try? await Loop.sleep(for: backoff.failed())) != nil else { throw error }
            }
        }
    }

    /// Reads a job's record; nil if there is no record.
    package func jobRecord(of job: String) async throws(StoreError) -> JobRecord? {
        JobRecord(id: job, app: keys.app, fields: try await perform(ReadJobRecord(job: job)))
    }

    private func reply<Step: Request>(
        of request: Step, _ result: Result<RESPValue, RedisError>
    ) -> Result<Step.Reply, StoreError> {
        switch result {
        case .success(let value):
            if value.hasClampedNumber { connection.onClampedNumber("\(Step.self) of \(keys.app)") }
            return Result { () throws(StoreError) in try Step.result(value) }
        case .failure(.refused(let error)): return .failure(StoreError(error))
        case .failure(let error): return .failure(.redis(error))
        }
    }
}
