import EventLoop
import Logging
import RedisProtocol
import Registry
import StoreProtocol

/// Calls to the Redis of a registry, which are repeated until Redis has carried them out.
@Loop final class RegistryCalls {
    private let connection: RedisConnection
    private let log: Logger
    /// Called with true before a call waits for Redis, and with false when it continues.
    var onWait: @Loop (_ isWaiting: Bool) async -> Void = { _ in }

    init(_ connection: RedisConnection, log: Logger) {
        (self.connection, self.log) = (connection, log)
    }

    /// The replies to the reads of a registry, in their order.
    func replies(
        to reads: [RegistryRead], _ keys: RegistryKeys
    ) async throws(StoreError) -> [RegistryReply] {
        try await retrying { () throws(StoreError) in
            try await self.all(reads) { read, then in
                self.connection.send(read.command(keys)) { result in
                    switch result {
                    case .success(let value): then(Result { () throws(StoreError) in try read.reply(value) })
                    case .failure(.refused(let error)): then(.failure(StoreError(error)))
                    case .failure(let error): then(.failure(.redis(error)))
                    }
                }
            }
        }
    }

    /// Waits until Redis uses less memory than its limit. Removals need no memory, and do not wait.
    func waitForMemory() async throws(StoreError) {
        try await retrying { () throws(StoreError) in
            guard let reply = try? await self.connection.call(RESPCommand("INFO", "memory")) else { return }
            let info = RedisInfo(reply.text ?? "")
            guard info.maxMemory > 0, info.countedMemory >= info.maxMemory else { return }
            throw .redis(
                .waitAndRepeat(RESPServerError(message: "OOM the registry's Redis uses all of its maxmemory"))
            )
        }
    }

    /// Sends a call for each element, and waits for all replies.
    ///
    /// - Returns: the replies in the order of the elements.
    /// - Throws: the first error that repeating the calls does not fix; if there is no such error, the first error.
    func all<Elements: RandomAccessCollection, Value: Sendable>(
        _ elements: Elements,
        _ send: @Loop (Elements.Element, @escaping @Loop (Result<Value, StoreError>) -> Void) -> Void
    ) async throws(StoreError) -> [Value] {
        guard !elements.isEmpty else { return [] }
        let results = await withCheckedContinuation { continuation in
            var results = [Result<Value, StoreError>?](repeating: nil, count: elements.count)
            var open = elements.count
            for (index, element) in elements.enumerated() {
                send(element) { result in
                    results[index] = result
                    open -= 1
                    if open == 0 { continuation.resume(returning: results.compactMap { $0 }) }
                }
            }
        }
        var failure: StoreError?
        var values: [Value] = []
        for result in results {
            switch result {
            case .success(let value): values.append(value)
            case .failure(let error):
                if failure.map(\.isTemporary) ?? true {
                    failure = failure.map { error.isTemporary ? $0 : error } ?? error
                }
            }
        }
        if let failure { throw failure }
        return values
    }

    /// Repeats calls while Redis cannot carry them out or is unreachable. Logs each outage once.
    ///
    /// - Throws: an error that retries do not fix, or the last error when the task is cancelled.
    func retrying<Value: Sendable>(
        _ call: @Loop () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await OutageRetry("the registry's Redis", log: log).perform(call, onWait: onWait)
    }
}
