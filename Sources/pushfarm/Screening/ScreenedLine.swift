import PushModel

/// What a line of a file of tokens says.
enum ScreenedLine: Equatable {
    /// Nothing, or a remark after "#".
    case empty
    case token([UInt8])
    case malformed(reason: String)

    /// A token is the first word; what stands behind it, as in the files that a screening writes, is passed over.
    init(_ text: Substring) {
        guard let word = text.split(maxSplits: 1, whereSeparator: \.isWhitespace).first, word.first != "#"
        else {
            self = .empty
            return
        }
        do {
            self = .token(try DeviceToken.bytes(of: word))
        } catch {
            self = .malformed(reason: error.description)
        }
    }
}
