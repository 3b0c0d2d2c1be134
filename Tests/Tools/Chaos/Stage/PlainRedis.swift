package import EventLoop
import RESP
package import RedisProtocol
import Transport

/// A plain Redis connection, independent of the farm's code, with a timeout for each reply.
@Loop package final class PlainRedis {
    package enum Failure: Error {
        /// The connection was lost, or a reply did not arrive in time. Redis may have executed the command or not.
        case lost
    }

    private let stream: ByteStream
    private let reader = RESPReader()
    private var replies: [RESPValue] = []
    private var wanted = 0
    private var reading: CheckedContinuation<Bool, Never>?
    private lazy var deadline = Timer { [unowned self] in finish(false) }
    private var hasEnded = false
    private let turnstile = TaskLock()

    package init(_ path: String, within limit: Duration = .seconds(2)) async throws {
        stream = try await Dial(.unix(path: path), timeout: limit).connect()
        stream.onBytes = { [unowned self] in take($0) }
        stream.onEnd = { [unowned self] _ in finish(false) }
    }

    isolated deinit { stream.close() }

    /// - Throws: ``Failure/lost`` if no timely reply arrives. The connection cannot be used after this error.
    package func call(_ words: [String], within limit: Duration = .seconds(2)) async throws -> RESPValue {
        try await call([words], within: limit)[0]
    }

    /// Sends commands in one piece and waits for all replies, which may be errors.
    package func call(_ commands: [[String]], within limit: Duration = .seconds(2)) async throws
        -> [RESPValue]
    {
        guard !commands.isEmpty else { return [] }
        return try await turnstile.pass { try await exchange(commands, within: limit) }
    }

    private func exchange(_ commands: [[String]], within limit: Duration) async throws -> [RESPValue] {
        var bytes: [UInt8] = []
        for words in commands {
            var command = RESPCommand()
            for word in words { command.append(word) }
            command.write(into: &bytes)
        }
        let isGood = await withCheckedContinuation { continuation in
            // The check and the wait are one step, so the connection cannot end between them.
            guard !hasEnded else { return continuation.resume(returning: false) }
            (replies, wanted, reading) = ([], commands.count, continuation)
            bytes.withUnsafeBytes { stream.write($0) }
            deadline.start(after: limit)
        }
        guard isGood else { throw Failure.lost }
        return replies
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        do {
            try reader.feed(bytes)
            while let value = try reader.next() { replies.append(value) }
            if replies.count >= wanted { finish(true) }
        } catch { finish(false) }
    }

    private func finish(_ isGood: Bool) {
        deadline.stop()
        if !isGood { hasEnded = true }
        reading?.resume(returning: isGood)
        reading = nil
    }
}
