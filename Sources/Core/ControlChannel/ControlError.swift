/// Why bytes are not a control message. Both sides run the same binary, so this is a bug or a foreign program.
package enum ControlError: Error, Equatable {
    case truncated
    case trailing
    case notUTF8
    case notDecimal
    case unknownKind(UInt8)
    case frameTooLong(Int)
}
