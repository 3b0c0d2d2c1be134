/// A push as a gateway receives it: header values as they came, nil if absent.
///
/// Valid only as long as the bytes are; made and judged on the stack.
struct ReceivedPush {
    var method: UnsafeRawBufferPointer?
    var path: UnsafeRawBufferPointer?
    var topic: UnsafeRawBufferPointer?
    var pushType: UnsafeRawBufferPointer?
    var priority: UnsafeRawBufferPointer?
    var expiration: UnsafeRawBufferPointer?
    var collapseID: UnsafeRawBufferPointer?
    var id: UnsafeRawBufferPointer?
    /// Whether any header came twice.
    var hasRepeatedHeader = false
    /// Bytes of the body.
    var payloadLength = 0

    init() {}
}
