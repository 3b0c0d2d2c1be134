/// Why bytes are no control message. The two sides are one binary, so this is a bug or a stranger.
package enum ControlError: Error, Equatable {
    case truncated
    case trailing
    case notUTF8
    case notDecimal
    case unknownKind(UInt8)
    case frameTooLong(Int)
}
