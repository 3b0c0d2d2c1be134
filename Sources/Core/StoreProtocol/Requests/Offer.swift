package import RedisProtocol

/// Puts a job into the inbox if there is room, as producers do: through the function of ``FunctionLibrary``.
///
/// With an id it may be made again when its reply was lost: the second job is a duplicate of the first.
package struct Offer: Request {
    package enum Reply: Equatable, Sendable {
        /// Jobs in the inbox.
        case accepted(waiting: Int)
        case busy(retryAfter: Duration, reason: String)
        /// A job of this id is open or younger than a day.
        case duplicate
        /// It is too large, and always will be.
        case refused(reason: String)
    }

    package var job: [UInt8]
    package var id: String

    package init(job: [UInt8], id: String) { (self.job, self.id) = (job, id) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("FCALL")
        command.append(FunctionLibrary.submit)
        command.append(1)
        command.append(keys.inbox)
        command.append(job)
        command.append(id)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "submit")
        let (status, number, text) = (try reader.text(), try reader.integer(), try reader.text())
        return switch status {
        case "OK": .accepted(waiting: number)
        case "BUSY": .busy(retryAfter: .milliseconds(number), reason: text)
        case "DUPLICATE": .duplicate
        case "REFUSED": .refused(reason: text)
        default: throw .unexpectedReply("submit, \(status)")
        }
    }
}
