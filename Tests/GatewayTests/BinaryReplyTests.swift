import APNs
import BinaryProtocol
import Testing

@testable import Gateway

/// Checks how each kind of reply, and an end without a reply, affects the pushes of a binary connection.
@Suite struct BinaryReplyTests {
    private let start = ContinuousClock.now
    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    /// The number of sent pushes. These pushes have the identifiers 1 to 5.
    private static let count: UInt32 = 5

    private func line(
        _ settings: BinarySettings = BinarySettings(), _ profile: BinaryGatewayProfile? = nil
    ) -> BinaryExchangeFixture {
        let line = BinaryExchangeFixture(
            profile ?? BinaryGatewayProfile(settings), settings: settings, at: start)
        for position in 0..<Self.count { line.send(position, at: start) }
        return line
    }

    private func line(accepting accepted: Int, of profile: BinaryGatewayProfile) -> BinaryExchangeFixture {
        let line = BinaryExchangeFixture(profile, at: start)
        for position in 0..<UInt32(accepted) { line.send(position, at: start) }
        for tick in 1...25 {
            // The gateway replies to each key update request.
            // The first reply proves that the gateway has read the pushes. The second reply proves that the gateway sent no
            // refusal during the quiet time.
            line.responses = line.questions.count
            line.poll(at: at(tick * 50))
        }
        #expect(line.delivered == Array(0..<UInt32(accepted)))
        for position in UInt32(accepted)..<Self.count { line.send(position, at: at(1300)) }
        return line
    }

    /// A row of the table of replies.
    struct Row: Sendable, CustomTestStringConvertible {
        let status: UInt8
        /// The verdict on the push that the reply names; nil if the reply names no push or an accepted push.
        let verdict: Verdict?
        var rejectsCredentials = false
        /// Whether the reply names an accepted push.
        var isShutdown = false
        /// Whether the status makes no sense, so that the exchange cannot use the reply, whatever its identifier is.
        var isSenseless = false

        var testDescription: String { "\(BinaryStatus(rawValue: status).reason)" }
    }

    private static let table = [
        Row(status: 0, verdict: nil, isSenseless: true),
        Row(status: 1, verdict: .processingFailed(reason: "ProcessingError")),
        Row(status: 2, verdict: .requestWrong(reason: "MissingDeviceToken")),
        Row(status: 3, verdict: .credentialsWrong(reason: "MissingTopic"), rejectsCredentials: true),
        Row(status: 4, verdict: .requestWrong(reason: "MissingPayload")),
        Row(
            status: 5, verdict: .tokenInvalid(reason: "InvalidTokenSize", timestamp: nil)),
        Row(status: 6, verdict: .credentialsWrong(reason: "InvalidTopicSize"), rejectsCredentials: true),
        Row(status: 7, verdict: .requestWrong(reason: "InvalidPayloadSize")),
        Row(status: 8, verdict: .tokenInvalid(reason: "InvalidToken", timestamp: nil)),
        Row(status: 10, verdict: nil, isShutdown: true),
        Row(status: 128, verdict: .requestWrong(reason: "ProtocolError")),
        Row(status: 255, verdict: .processingFailed(reason: "Unknown")),
        Row(status: 77, verdict: .processingFailed(reason: "Status77")),
    ]

    @Test(arguments: table, [1, 3, 5]) func `a reply names a push`(row: Row, identifier: UInt32) {
        let line = line()
        line.reply(BinaryStatus(rawValue: row.status), identifier, at: at(500))
        let all = Array(0..<Self.count)
        let named = Int(identifier) - 1
        if row.isSenseless {
            #expect(line.unknown == all && line.end == "a reply without an error")
            #expect(line.delivered == [] && line.dead == [] && line.unprocessed == [])
            #expect(!line.exchange.isProven)
            return
        }
        #expect(line.delivered == Array(all[..<(row.isShutdown ? named + 1 : named)]))
        #expect(line.dead == (row.isShutdown ? [] : [all[named]]))
        #expect(line.verdicts == (row.verdict.map { [$0] } ?? []))
        #expect(line.unprocessed == Array(all[(named + 1)...]))
        #expect(line.unknown == [] && line.wrong == [])
        #expect(line.end == BinaryStatus(rawValue: row.status).reason)
        #expect(line.exchange.isProven == !row.rejectsCredentials)
    }

    @Test(arguments: table, [0, 6, 4711, .max])
    func `a reply with an unknown identifier decides no push`(row: Row, identifier: UInt32) {
        let line = line()
        line.reply(BinaryStatus(rawValue: row.status), identifier, at: at(500))
        #expect(line.unknown == Array(0..<Self.count))
        #expect(line.delivered == [] && line.dead == [] && line.unprocessed == [])
        let reason = BinaryStatus(rawValue: row.status).reason
        #expect(
            line.end == (row.isSenseless ? "a reply without an error" : "\(reason) about no push of ours"))
        #expect(line.verdicts == [] && !line.exchange.isProven, "no credentials are blamed or proven")
    }

    @Test func `bytes that are not a reply decide no push`() {
        let line = line()
        line.receive([9], at: at(500))
        #expect(line.unknown == Array(0..<Self.count) && line.end == "a reply that cannot be read")
    }

    @Test(arguments: 1...5) func `a truncated reply counts as a close without a reply`(length: Int) {
        let profile = BinaryGatewayProfile(BinarySettings())
        let before = profile.windowLimit.window
        let line = line(BinarySettings(), profile)
        for byte in BinaryReply(status: .invalidToken, identifier: 3).bytes[..<length] {
            line.receive([byte], at: at(500))
        }
        #expect(line.end == nil && line.unknown == [])
        line.end(isPeersDoing: true, at: at(600))
        #expect(line.unknown == Array(0..<Self.count) && line.dead == [])
        #expect(profile.windowLimit.window == before / 2)
    }

    // MARK: Too late

    /// The arguments: the status of the reply, its identifier, and how many of the three pushes that count as accepted the
    /// gateway has not accepted.
    @Test(arguments: [(8, 1, 3), (8, 2, 2), (8, 3, 1), (1, 3, 1), (3, 2, 2), (10, 1, 2), (10, 2, 1)])
    func `a reply about a push taken as accepted reports how many were wrong`(
        status: UInt8, identifier: UInt32, wrong: Int
    ) {
        let profile = BinaryGatewayProfile(BinarySettings())
        let line = line(accepting: 3, of: profile)
        let status = BinaryStatus(rawValue: status)
        line.reply(status, identifier, at: at(1500))
        #expect(line.wrong == [wrong])
        #expect(line.delivered == [0, 1, 2] && line.dead == [] && line.unknown == [])
        #expect(line.unprocessed == [3, 4] && line.end == status.reason)
        #expect(profile.quiet.current == .seconds(2))
    }

    @Test func `a shutdown that names the last push taken as accepted reports none wrong`() {
        let profile = BinaryGatewayProfile(BinarySettings())
        let line = line(accepting: 3, of: profile)
        line.reply(.shutdown, 3, at: at(1500))
        #expect(line.wrong == [] && line.delivered == [0, 1, 2] && line.unprocessed == [3, 4])
        #expect(profile.quiet.current == .seconds(1))
    }

    // MARK: The sentinel

    @Test(arguments: [(2, 0), (5, 0), (5, 6), (2, 6)])
    func `a reply to the sentinel proves all other pushes`(status: UInt8, identifier: UInt32) {
        let line = line(BinarySettings(endsWithSentinel: true))
        line.retire(at: at(10))
        #expect(line.exchange.openPushes == 6)
        line.reply(BinaryStatus(rawValue: status), identifier, at: at(500))
        #expect(line.delivered == Array(0..<Self.count))
        #expect(line.dead == [] && line.unknown == [] && line.unprocessed == [] && line.wrong == [])
        #expect(line.end == BinaryStatus(rawValue: status).reason)
    }

    @Test(arguments: [(1, 0), (8, 0), (10, 0), (5, 7)])
    func `another reply without an identifier is not a reply to the sentinel`(
        status: UInt8, identifier: UInt32
    ) {
        let line = line(BinarySettings(endsWithSentinel: true))
        line.retire(at: at(10))
        line.reply(BinaryStatus(rawValue: status), identifier, at: at(500))
        #expect(line.unknown == Array(0..<Self.count) && line.delivered == [])
    }

    @Test func `a push refused before the sentinel is the cause of the close`() {
        let line = line(BinarySettings(endsWithSentinel: true))
        line.retire(at: at(10))
        line.reply(.invalidToken, 4, at: at(500))
        #expect(line.delivered == [0, 1, 2] && line.dead == [3] && line.unprocessed == [4])
    }

    // MARK: Ends without a reply

    @Test(arguments: [true, false]) func `only a close by the gateway reduces the windows`(
        isPeersDoing: Bool
    ) {
        let profile = BinaryGatewayProfile(BinarySettings())
        let before = profile.windowLimit.window
        let line = line(BinarySettings(), profile)
        line.end(isPeersDoing: isPeersDoing, at: at(100))
        #expect(line.unknown == Array(0..<Self.count) && line.end == "closed")
        #expect(profile.windowLimit.window == (isPeersDoing ? before / 2 : before))
    }

    @Test(arguments: [true, false])
    func `without identifiers a single push is blamed for the gateway's close only`(
        isPeersDoing: Bool
    ) {
        let settings = BinarySettings(command: .simple)
        let line = BinaryExchangeFixture(BinaryGatewayProfile(settings), settings: settings, at: start)
        line.send(0, isRetry: true, at: start)
        line.end(isPeersDoing: isPeersDoing, at: at(100))
        #expect(line.verdicts == (isPeersDoing ? [.processingFailed(reason: "ClosedWithoutReply")] : []))
        #expect(line.unknown == (isPeersDoing ? [] : [0]))
    }

    @Test func `a connection is not trusted after half an hour without use`() {
        let halfHour = 1_800_000
        let unused = BinaryExchangeFixture(BinaryGatewayProfile(BinarySettings()), at: start)
        unused.poll(at: at(halfHour))
        #expect(unused.end == nil)
        unused.poll(at: at(halfHour + 1))
        #expect(unused.end == "idle for too long")

        // A connection may be idle for half an hour after its last activity.
        let used = BinaryExchangeFixture(BinaryGatewayProfile(BinarySettings()), at: start)
        used.poll(at: at(halfHour))
        used.send(0, at: at(halfHour))
        for tick in 1...25 {
            used.responses = used.questions.count
            used.poll(at: at(halfHour + tick * 50))
        }
        #expect(used.delivered == [0])
        used.poll(at: at(2 * halfHour))
        #expect(used.end == nil)
        used.poll(at: at(2 * halfHour + 1251))
        #expect(used.end == "idle for too long" && used.unknown == [])
    }
}
