import APNs
import BinaryProtocol
import Testing

@Suite struct BinaryReplyTests {
    private typealias Reader = BinaryReply.Reader

    private func read(_ bytes: [UInt8], by reader: inout BinaryReply.Reader) -> BinaryReply.Reader.Progress {
        bytes.withUnsafeBytes { reader.read($0) }
    }

    @Test func `reads and writes the recorded reply`() {
        let recorded = bytes("08 08 000003e8")
        let reply = BinaryReply(status: .invalidToken, identifier: 1000)
        #expect(reply.bytes == recorded)
        var reader = Reader()
        #expect(read(recorded, by: &reader) == .reply(reply))
    }

    @Test(arguments: 1...5) func `a reply may come in two parts`(cut: Int) {
        let reply = BinaryReply(status: .shutdown, identifier: 0xfffe_0102)
        var reader = Reader()
        #expect(read(Array(reply.bytes[..<cut]), by: &reader) == .incomplete)
        #expect(read(Array(reply.bytes[cut...]), by: &reader) == .reply(reply))
        #expect(read(reply.bytes, by: &reader) == .incomplete, "there is one reply a connection")
    }

    @Test func `bytes with another start are not a reply`() {
        var reader = Reader()
        #expect(read(bytes("09 08 000003e8"), by: &reader) == .malformed)
        #expect(read(bytes("08 08 000003e8"), by: &reader) == .incomplete)
    }

    @Test(
        arguments: [
            (0, "NoError", nil), (1, "ProcessingError", .processingFailed(reason: "ProcessingError")),
            (2, "MissingDeviceToken", .requestWrong(reason: "MissingDeviceToken")),
            (3, "MissingTopic", .credentialsWrong(reason: "MissingTopic")),
            (4, "MissingPayload", .requestWrong(reason: "MissingPayload")),
            (
                5, "InvalidTokenSize",
                .tokenInvalid(reason: "InvalidTokenSize", timestamp: nil)
            ),
            (6, "InvalidTopicSize", .credentialsWrong(reason: "InvalidTopicSize")),
            (7, "InvalidPayloadSize", .requestWrong(reason: "InvalidPayloadSize")),
            (8, "InvalidToken", .tokenInvalid(reason: "InvalidToken", timestamp: nil)),
            (10, "Shutdown", nil), (99, "Status99", .processingFailed(reason: "Status99")),
            (128, "ProtocolError", .requestWrong(reason: "ProtocolError")),
            (255, "Unknown", .processingFailed(reason: "Unknown")),
        ] as [(UInt8, String, Verdict?)])
    func `each status has its text and its verdict`(code: UInt8, words: String, verdict: Verdict?) {
        let status = BinaryStatus(rawValue: code)
        #expect(status.reason == words)
        #expect(status.verdict == verdict)
    }
}
