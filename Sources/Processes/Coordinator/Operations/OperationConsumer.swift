import EventLoop
import Logging
import PushModel
import RedisClient
import StoreProtocol

/// Reads operators' commands from Redis and the control socket, and sends this host's replies.
///
/// Before the host runs a command from Redis, it claims the command's id in Redis. So the host runs the command only
/// once, even if it reads the command twice or its successor reads the command again.
@Loop final class OperationConsumer {
    private let farmRedis: FarmRedis
    private let host: String
    private let log: Logger
    private let carryOut: @Loop (OperatorCommand, RunningCommand) async throws(OperationRefusal) -> String
    /// Signalled when this host has sent the last reply to a command.
    private let changes: AsyncCondition
    /// The position of the last entry that was read; nil before the first read.
    private var position: String?
    private var isReading = false
    private var isToBeReadAgain = false
    /// Commands to which this host has not sent its last reply yet, by id.
    private(set) var underWay: [String: OperatorCommand] = [:]
    /// The maximum number of commands that run at the same time, counted over all clients.
    static let most = 64

    init(
        _ farmRedis: FarmRedis, host: String, log: Logger, changes: AsyncCondition = AsyncCondition(),
        carryOut: @escaping @Loop (OperatorCommand, RunningCommand) async throws(OperationRefusal) -> String
    ) {
        (self.farmRedis, self.host, self.log) = (farmRedis, host, log)
        (self.changes, self.carryOut) = (changes, carryOut)
    }

    /// Reads the commands that operators have added since the last read. If a read fails, the next call reads the same
    /// commands.
    func readNew() async {
        guard !isReading else {
            isToBeReadAgain = true
            return
        }
        isReading = true
        repeat {
            isToBeReadAgain = false
            do throws(RedisError) { try await read() } catch {
                log.debug("cannot read operators' commands", error: error)
            }
        } while isToBeReadAgain
        isReading = false
    }

    private func read() async throws(RedisError) {
        var start: String
        if let position { start = position } else { start = try await firstPosition() }
        while true {
            let some = try await farmRedis.operations(after: start, count: 100)
            for operation in some {
                start = operation.position
                if let command = operation.command, command.host == nil || command.host == host {
                    try await handle(command)
                }
                position = start
            }
            guard some.count == 100 else { break }
        }
        position = start
    }

    /// The position after which the first read starts. The commands before this position are too old to be started.
    private func firstPosition() async throws(RedisError) -> String {
        let now = try await farmRedis.time()
        return "\(now - Int64(FarmRedis.operationLife.milliseconds))-0"
    }

    private func handle(_ command: OperatorCommand) async throws(RedisError) {
        guard case .granted = try await farmRedis.claim(command, host: host) else { return }
        begin(command) { [farmRedis, log] reply in
            do throws(RedisError) { try await farmRedis.storeReply(reply, to: command.id) } catch {
                log.warning("cannot reply to an operator", error: error, metadata: ["id": "\(command.id)"])
            }
        }
    }

    /// Begins to carry out a command, and does not wait for other commands.
    /// - Parameter reply: sends one reply. It is called again only after the previous call has returned.
    func begin(_ command: OperatorCommand, reply: @escaping @Loop (OperatorReply) async -> Void) {
        let isOneOfFew = underWay.count < Self.most
        underWay[command.id] = command
        // Monitoring systems may run the command `status` every few seconds, so log this command at a lower level.
        let level: Logger.Level = command.verb == OperatorVerb.status.rawValue ? .debug : .notice
        log.log(
            level: level, "operator", metadata: ["command": "\(command.text)", "by": "\(command.issuer)"])
        let operation = RunningCommand(host: host, reply: reply)
        Loop.task {
            var reply = OperatorReply(host: self.host, state: .done)
            do throws(OperationRefusal) {
                guard isOneOfFew else {
                    throw OperationRefusal("\(Self.most) commands are running: try again later")
                }
                // A command that arrives on the control socket may name another host, which must run it.
                if let wanted = command.host, wanted != self.host {
                    throw OperationRefusal(
                        "the command is for the host \(wanted), but this host is \(self.host)")
                }
                reply.text = try await self.carryOut(command, operation)
            } catch {
                reply.state = error.hasBegun ? .failed : .refused
                reply.text = error.reason
            }
            self.log.log(
                level: level, "operator's command done",
                metadata: [
                    "command": "\(command.text)", "state": "\(reply.state.rawValue)",
                    "text": "\(reply.text)",
                ])
            await operation.end(reply)
            self.underWay[command.id] = nil
            self.changes.signal()
        }
    }
}

/// Why a host refuses a command or carries out only a part of it.
struct OperationRefusal: Error {
    var reason: String
    /// Whether a part of the command was already carried out.
    var hasBegun = false

    init(_ reason: String) { self.reason = reason }

    static func failed(_ reason: String) -> OperationRefusal {
        var refusal = OperationRefusal(reason)
        refusal.hasBegun = true
        return refusal
    }
}
