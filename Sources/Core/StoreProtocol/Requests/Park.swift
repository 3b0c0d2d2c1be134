package import RedisProtocol

/// Puts a batch aside that the worker cannot make sense of, with the reason where an operator finds it.
package struct Park: Request {
    package static var script: Script? { .park }

    /// Of the batch's shard.
    package var token: FenceToken
    package var worker: String
    package var batch: BatchID
    package var delivery: Int
    package var reason: String

    package init(token: FenceToken, worker: String, batch: BatchID, delivery: Int, reason: String) {
        (self.token, self.worker, self.batch) = (token, worker, batch)
        (self.delivery, self.reason) = (delivery, reason)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(token.bytes)
        command.append(worker)
        command.append(batch.bytes)
        command.append(delivery)
        command.append(reason)
    }

    /// Whether the batch was in the worker's hands.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool {
        guard let moved = value.integer else { throw .unexpectedReply("park") }
        return moved == 1
    }
}
