import APNs
import BinaryProtocol

/// Converts recorded bytes from hexadecimal text and ignores blanks.
func bytes(_ text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue!) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// Recorded frames (protocol-facts 4.2): one notification in the format of each command.
enum Vectors {
    static let token = bytes("00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0")
    static let payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)
    static let identifier: UInt32 = 1000
    static let expiration: UInt32 = 0x6553_f100

    private static let tokenText = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
    private static let payloadText = "7b22617073223a7b22616c657274223a224869227d7d"

    static let frames: [(BinaryCommand, [UInt8])] = [
        (.simple, bytes("00 0020 \(tokenText) 0016 \(payloadText)")),
        (.enhanced, bytes("01 000003e8 6553f100 0020 \(tokenText) 0016 \(payloadText)")),
        (
            .framed,
            bytes(
                """
                02 0000004e 01 0020 \(tokenText) 02 0016 \(payloadText) 03 0004 000003e8 04 0004 6553f100 05 0001 0a
                """)
        ),
    ]

    /// Calls `body` with the notification that the recorded frames contain.
    static func withNotification<R>(
        expiration: UInt32? = Vectors.expiration, priority: UInt8? = 10,
        _ body: (BinaryNotification) throws -> R
    ) rethrows -> R {
        try token.withUnsafeBytes { token in
            try payload.withUnsafeBytes { payload in
                try body(
                    BinaryNotification(
                        token: token, payload: payload, identifier: identifier, expiration: expiration,
                        priority: priority))
            }
        }
    }

    static func frame(
        _ command: BinaryCommand, expiration: UInt32? = Vectors.expiration, priority: UInt8? = 10
    ) -> [UInt8] {
        withNotification(expiration: expiration, priority: priority) { notification in
            [UInt8](unsafeUninitializedCapacity: notification.length(as: command)) { space, count in
                count = notification.write(as: command, to: UnsafeMutableRawBufferPointer(space))
            }
        }
    }
}
