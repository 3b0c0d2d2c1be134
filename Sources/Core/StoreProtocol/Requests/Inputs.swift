import PushModel
package import RedisProtocol

/// The lists of inputs that the intake takes besides jobs. The raw value is the end of the list's key.
package enum InputList: String, CaseIterable, Sendable, CommandArgument {
    /// Registrations, changes and removals of devices.
    case devices
    /// New campaigns, and notices that an operator changed a campaign.
    case campaigns
    /// Devices that have finished the work that a campaign asks for.
    case done
    /// Rewards of devices for the variants of campaigns.
    case rewards

    package func write(to command: inout RESPCommand, _ keys: Keys) { command.append(rawValue) }
}

/// Takes inputs from a list that producers write.
///
/// The reply begins with inputs that were taken earlier and are not finished. So if an intake is killed, the next owner of the
/// intake gets its unfinished inputs.
package struct TakeInputs: Request {
    package struct Reply: Equatable, Sendable {
        /// The number of the last step of the intake of this list.
        package let step: Int
        /// The number of inputs that this call refused because of their size.
        package let refused: Int
        /// The exact bytes of each input, in order.
        package let inputs: [[UInt8]]
    }

    package static var script: Script? { .takeInputs }

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - maxBytes: maximum bytes of all inputs in one reply. The first input is returned even if it exceeds this limit.
    ///   - maxInputBytes: maximum bytes of one input. A larger input is refused.
    ///   - process: the unique name of a process that tries the first taken input alone, because the input may have crashed an
    ///     earlier process. Nil after this process has survived a try; the call may then return several inputs.
    package init(
        _ list: InputList, token: FenceToken, maxInputs: Int, maxBytes: Int, maxInputBytes: Int,
        triedBy process: String? = nil
    ) {
        words = [
            ScriptKeys.prefix, token, list, maxInputs, maxBytes, maxInputBytes, process, Self.mostTries,
        ]
    }

    /// After this number of processes have crashed while they tried an input, the input is refused as poison.
    private static let mostTries = 3

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let (step, refused) = (try reader.integer(), try reader.integer())
        var inputs: [[UInt8]] = []
        while !reader.isAtEnd { inputs.append(try reader.bytes()) }
        return Reply(step: step, refused: refused, inputs: inputs)
    }
}

/// Removes the first taken inputs of a list, after the caller has applied their changes, and records refused inputs.
package struct FinishInputs: Request {
    /// A refused input, and why.
    package struct Refusal: Equatable, Sendable {
        /// The input's index among the finished inputs, from 0.
        package let index: Int
        /// The id of the device or campaign that the input names, if the id could be read.
        package let subject: String?
        package let field: String
        /// The position of the fault in the input, in bytes.
        package let position: Int
        package let reason: String

        package init(index: Int, subject: String?, field: String, position: Int, reason: String) {
            (self.index, self.subject, self.field) = (index, subject, field)
            (self.position, self.reason) = (position, reason)
        }
    }

    package enum Reply: Equatable, Sendable {
        /// The inputs are removed. `events` is the number of refused inputs that got an event of their own.
        case done(events: Int)
        /// An earlier call did this step.
        case doneBefore
    }

    package static var script: Script? { .finishInputs }

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - step: the number of the last step plus 1.
    ///   - finished: the number of inputs to remove, refused inputs included.
    package init(
        _ list: InputList, token: FenceToken, step: Int, finished: Int, refused: [Refusal] = []
    ) {
        var words: [any CommandArgument] = [ScriptKeys.prefix, token, list, step, finished]
        for refusal in refused {
            words += [refusal.index, refusal.subject, refusal.field, refusal.position, refusal.reason]
        }
        self.words = words
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let isDone = try reader.flag()
        let events = try reader.integer()
        return isDone ? .done(events: events) : .doneBefore
    }
}

/// Waits for the next input of a list and moves it to the end of the taken inputs. The command needs a separate connection, because
/// it blocks.
///
/// This command needs no fence: even if the caller is no longer the intake, the next ``TakeInputs`` of the new intake returns
/// the moved input.
package struct AwaitInput: Request {
    package let blocking: Duration
    private let list: InputList

    /// - Parameter timeout: how long to wait for an input; more than zero.
    package init(_ list: InputList, timeout: Duration) { (self.list, blocking) = (list, timeout) }

    package var words: [any CommandArgument] {
        [
            "BLMOVE", AppKey { [list] in $0.inputs(list) }, AppKey { [list] in $0.takenInputs(list) }, "LEFT",
            "RIGHT", BlockingTime(blocking),
        ]
    }

    /// Whether an input was moved within the timeout.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool { !value.isNull }
}

/// Adds inputs to a list that producers write. If the reply is lost, the caller may add the same inputs again.
package struct PushInputs: Request {
    /// The number of inputs in the list.
    package typealias Reply = Int

    package let words: [any CommandArgument]

    /// - Parameter inputs: at least one input.
    package init(_ list: InputList, _ inputs: [[UInt8]]) {
        words = ["RPUSH", AppKey { $0.inputs(list) }, ArgumentList(inputs)]
    }
}

/// Counts the inputs of a list that the intake has not taken yet.
package struct CountInputs: Request {
    package typealias Reply = Int

    package let words: [any CommandArgument]

    package init(_ list: InputList) { words = ["LLEN", AppKey { $0.inputs(list) }] }
}
