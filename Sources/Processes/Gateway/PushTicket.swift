/// What a push is known by while the gateway has it: its batch, by the sender's number, and its position there.
package struct PushTicket: Hashable, Sendable {
    package let batch: UInt32
    package let position: UInt32

    package init(batch: UInt32, position: UInt32) {
        self.batch = batch
        self.position = position
    }
}
