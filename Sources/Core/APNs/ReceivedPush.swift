/// A push as a gateway receives it: header values as they came, nil if absent.
///
/// Valid only as long as the bytes are; made and judged on the stack.
package struct ReceivedPush {
    package var method: UnsafeRawBufferPointer?
    package var path: UnsafeRawBufferPointer?
    package var topic: UnsafeRawBufferPointer?
    package var pushType: UnsafeRawBufferPointer?
    package var priority: UnsafeRawBufferPointer?
    package var expiration: UnsafeRawBufferPointer?
    package var collapseID: UnsafeRawBufferPointer?
    package var id: UnsafeRawBufferPointer?
    /// Whether any header came twice.
    package var hasRepeatedHeader = false
    /// Bytes of the body.
    package var payloadLength = 0

    package init() {}
}
