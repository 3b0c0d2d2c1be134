import EventLoop
import Logging
import PushModel
import RedisClient
import StoreProtocol

/// Takes operators' commands, from Redis and from the control socket, and gives this host's answers.
///
/// A command that comes by Redis is claimed by its id before it is begun, so it is carried out once, whatever is lost or
/// read twice, also by the coordinator that follows.
@Loop final class OperationConsumer {
    private let registry: FarmRegistry
    private let host: String
    private let log: Logger
    private let carryOut: @Loop (OperatorCommand, Operation) async throws(OperationRefusal) -> String
    /// Signals when a command has its last answer.
    private let changes: AsyncCondition
    /// Of the last entry that was read; nil before the first look.
    private var position: String?
    private var isReading = false
    private var isToBeReadAgain = false
    /// Without a last answer yet.
    private(set) var underWay: [String: OperatorCommand] = [:]
    /// Commands begun, of all clients together, at most.
    static let most = 64

    init(
        _ registry: FarmRegistry, host: String, log: Logger, changes: AsyncCondition = AsyncCondition(),
        carryOut: @escaping @Loop (OperatorCommand, Operation) async throws(OperationRefusal) -> String
    ) {
        (self.registry, self.host, self.log) = (registry, host, log)
        (self.changes, self.carryOut) = (changes, carryOut)
    }

    /// Reads what operators have put into Redis since the last look. What cannot be read now is read by the next look.
    func readNew() async {
        guard !isReading else {
            isToBeReadAgain = true
            return
        }
        isReading = true
        repeat {
            isToBeReadAgain = false
            do throws(RedisError) { try await read() } catch {
                log.debug("operations not read", error: error)
            }
        } while isToBeReadAgain
        isReading = false
    }

    private func read() async throws(RedisError) {
        var start: String
        if let position { start = position } else { start = try await firstPosition() }
        while true {
            let some = try await registry.operations(after: start, count: 100)
            for operation in some {
                start = operation.position
                if let command = operation.command, command.host == nil || command.host == host {
                    try await take(command)
                }
                position = start
            }
            guard some.count == 100 else { break }
        }
        position = start
    }

    /// What was said before that is too late, or was said to the coordinator before.
    private func firstPosition() async throws(RedisError) -> String {
        let now = try await registry.time()
        return "\(now - Int64(FarmRegistry.operationLife.milliseconds))-0"
    }

    private func take(_ command: OperatorCommand) async throws(RedisError) {
        guard case .granted = try await registry.claim(command, host: host) else { return }
        begin(command) { [registry, log] answer in
            do throws(RedisError) { try await registry.answer(command.id, answer) } catch {
                log.warning("cannot answer an operator", error: error, metadata: ["id": "\(command.id)"])
            }
        }
    }

    /// Carries a command out beside others.
    /// - Parameter reply: sends each answer, one after the other.
    func begin(_ command: OperatorCommand, reply: @escaping @Loop (OperatorAnswer) async -> Void) {
        let isOneOfFew = underWay.count < Self.most
        underWay[command.id] = command
        // Probes ask how it is every few seconds.
        let level: Logger.Level = command.verb == OperatorVerb.status.rawValue ? .debug : .notice
        log.log(
            level: level, "operator", metadata: ["command": "\(command.text)", "by": "\(command.issuer)"])
        let operation = Operation(host: host, reply: reply)
        Loop.task {
            var answer = OperatorAnswer(host: self.host, state: .done)
            do throws(OperationRefusal) {
                guard isOneOfFew else {
                    throw OperationRefusal("\(Self.most) commands are under way: try again")
                }
                // By the control socket a command may have come to the wrong host.
                if let wanted = command.host, wanted != self.host {
                    throw OperationRefusal("this is \(self.host), not \(wanted)")
                }
                answer.text = try await self.carryOut(command, operation)
            } catch {
                answer.state = error.hasBegun ? .failed : .refused
                answer.text = error.reason
            }
            self.log.log(
                level: level, "operator answered",
                metadata: [
                    "command": "\(command.text)", "state": "\(answer.state.rawValue)",
                    "text": "\(answer.text)",
                ])
            await operation.end(answer)
            self.underWay[command.id] = nil
            self.changes.signal()
        }
    }
}

/// Why a host does not carry out a command, or only a part of it.
struct OperationRefusal: Error {
    var reason: String
    /// Something was done already.
    var hasBegun = false

    init(_ reason: String) { self.reason = reason }

    static func failed(_ reason: String) -> OperationRefusal {
        var refusal = OperationRefusal(reason)
        refusal.hasBegun = true
        return refusal
    }
}
