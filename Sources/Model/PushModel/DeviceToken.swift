/// The text of a device token, outside of a job.
package enum DeviceToken {
    /// Why text is no token, in words.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The bytes that hex digits of either case stand for; as many as a job's tokens may have.
    package static func bytes(of text: some StringProtocol) throws(Fault) -> [UInt8] {
        switch HexToken.decode(Array(text.utf8)) {
        case .success(let bytes): return bytes
        case .failure(let failure): throw Fault(description: failure.fault.reason)
        }
    }
}
