import PushModel

/// What an operator writes on a command line, as it goes into Redis and into reports.
enum OperatorText {
    /// A reason: one line; "" when there is none.
    static func line(_ text: String?) throws(CommandFailure) -> String {
        guard let text else { return "" }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }), text.utf8.count <= 500
        else { throw .usage("--reason is one line of at most 500 bytes") }
        return text
    }

    /// A device token.
    static func token(_ text: String) throws(CommandFailure) -> [UInt8] {
        do { return try DeviceToken.bytes(of: text) } catch { throw .usage("\(text): \(error)") }
    }
}
