import RandomTesting
import Testing

@testable import ControlChannel

@Suite struct ControlFramesTests {
    static let setup: AppSetup = {
        var setup = plainSetup
        (setup.weight, setup.bulkFloor) = (3, 25)
        return setup
    }()

    private static let plainSetup = AppSetup(
        name: "demo", topic: "com.example", host: "api.example", port: 2197,
        credentials: .certificate(pem: [1, 2, 3]), trustedCA: [4], requestTimeoutMilliseconds: 7,
        binary: AppSetup.Binary(
            command: 1, quietMilliseconds: 1500, endsWithSentinel: true, asksIfRead: false,
            window: 70_000, dialsPerMinute: 1_500),
        proxyHost: "proxy", proxyPort: 3128, connections: 2,
        use: {
            var use = AppSetup.Use()
            (use.minConnections, use.maxStreams, use.maxRate, use.maxBandwidth) = (2, 3, 0.5, 1e9)
            (use.scale, use.backOffJitter, use.keepAliveSeconds) = (.exponential(1.5), 0.1, 7)
            use.maxRetryAfterSeconds = 77
            (use.sustainMilliseconds, use.pollMilliseconds, use.settleMilliseconds) = (1, 2, 3)
            (use.dialMilliseconds, use.minBackOffMilliseconds, use.maxBackOffMilliseconds) = (4, 5, 6)
            (use.budgetRate, use.budgetBandwidth, use.budgetConnections, use.shards) = (2.5, 1e6, 70, 64)
            return use
        }(), generation: 9)

    static let messages: [WorkerMessage] = [
        .begin(redis: "redis://:secret@host/0", redisTrustedCA: [1], worker: "host-1-2", index: 1),
        .app(setup), .forget(app: "demo"),
        .provider(app: "demo", generation: 3, token: Array("e.y.j".utf8), reconnects: true),
        .shards(app: "demo", [.init(number: 63, fence: Array("1:abc:host".utf8))]),
        .batchesReady(app: "demo", shards: [0, 1, 63]), .pause(app: "demo"), .resume(app: "demo"),
        .lease(end: 1 << 50), .suppressed(app: "demo", shards: [0, 63]),
        .feedback(
            FeedbackRequest(
                app: "demo", host: "feedback.example", port: 2196, reading: "r1", shards: 64, limit: 16_000)),
        .finish(withinMilliseconds: 20_000),
    ]

    static let notices: [WorkerNotice] = [
        .hello(pid: 4711),
        .heartbeat(
            {
                var heartbeat = WorkerNotice.Heartbeat()
                heartbeat.sent = 1 << 40
                heartbeat.openStreams = 12
                heartbeat.isQuiet = true
                (heartbeat.processorTaken, heartbeat.processorQueued) = (1 << 33, 5)
                return heartbeat
            }()), .reported(app: "demo"),
        .settingRejected(app: "demo", .credentialsStale, generation: 2, reason: "ExpiredProviderToken"),
        .credentialsAccepted(app: "demo", generation: 2), .fenced(app: "demo"),
        .released(app: "demo", shards: [0, 63]),
        .deliveredPushesLost(app: "demo", pushes: 70_000, reason: "InvalidToken"),
        .feedback(app: "demo", reading: "r1", tuples: 1 << 33, error: "it ended within a tuple"),
    ]

    static let intakeMessages: [IntakeMessage] = [
        .begin(redis: "rediss://u:p@host:6380/1", redisTrustedCA: [1, 2], name: "host-intake-1", shards: 64),
        .app(
            IntakeSetup(
                name: "demo", topic: "com.example", maxJobBytes: 1 << 40, maxTokens: 100_000,
                maxPayloadBytes: 2048, hasOneTopic: true, isSandbox: true, registry: "unix:///r.sock",
                maxRate: 12.5, jobRecords: 1 << 33, jobRecordSeconds: 7)),
        .forget(app: "demo"), .fence(app: "demo", token: Array("1:abc:host".utf8)),
        .fence(app: "demo", token: []), .finish(withinMilliseconds: 5000),
    ]

    static let intakeNotices: [IntakeNotice] = [
        .hello,
        .heartbeat(
            {
                var heartbeat = IntakeNotice.Heartbeat()
                (heartbeat.jobs, heartbeat.refused, heartbeat.pushes, heartbeat.residentBytes) = (
                    1 << 40, 2, 3, 4
                )
                (heartbeat.deviceInputs, heartbeat.refusedDeviceInputs) = (1 << 41, 5)
                var app = IntakeNotice.Heartbeat.App(name: "demo")
                (app.campaigns.scheduled, app.campaigns.running, app.campaigns.paused) = (1, 2, 3)
                (app.campaigns.late, app.campaigns.firstLate, app.campaigns.shortfall) = (
                    1, "ed-1", "9 pushes"
                )
                app.campaigns.isUnclear = true
                var campaign = IntakeNotice.Heartbeat.Campaign(id: "ed-1", state: .paused)
                (campaign.isLate, campaign.round, campaign.rounds, campaign.total) = (true, 2, 4, 1 << 39)
                (campaign.counted, campaign.handled, campaign.next) = (1 << 38, 9, 1 << 40)
                app.campaigns.list = [campaign]
                (app.devices.stored, app.devices.alive, app.devices.isRegistryUp) = (1 << 40, nil, true)
                (app.devices.inputs, app.devices.refused, app.lookups) = (1 << 42, 6, 7)
                app.campaignDevices = [.init(name: "accepted", number: 1 << 43)]
                heartbeat.apps = [app, IntakeNotice.Heartbeat.App(name: "other")]
                return heartbeat
            }()),
        .works(app: "demo"), .idle(app: "demo"), .delayed(app: "demo", milliseconds: 1 << 41),
        .fenced(app: "demo", token: Array("1:abc:host".utf8)),
    ]

    @Test(arguments: intakeMessages) func `an intake message is encoded and decoded`(message: IntakeMessage)
        throws
    {
        #expect(try Self.passed(message) == message)
        Self.refusesCuts(message)
    }

    @Test(arguments: intakeNotices) func `an intake notice is encoded and decoded`(notice: IntakeNotice)
        throws
    {
        #expect(try Self.passed(notice) == notice)
        Self.refusesCuts(notice)
    }

    @Test(arguments: messages) func `a message arrives unchanged byte by byte`(message: WorkerMessage) throws
    {
        #expect(try Self.passed(message) == message)
    }

    @Test(arguments: notices) func `a notice arrives unchanged byte by byte`(notice: WorkerNotice) throws {
        #expect(try Self.passed(notice) == notice)
    }

    @Test func `messages that arrive together are separated`() throws {
        var frames = ControlFrames<WorkerMessage>()
        Self.messages.flatMap(\.frame).withUnsafeBytes { frames.append($0) }
        for message in Self.messages { #expect(try frames.next() == message) }
        #expect(try frames.next() == nil)
    }

    @Test(arguments: messages) func `a message cut anywhere is refused`(message: WorkerMessage) {
        Self.refusesCuts(message)
    }

    private static func refusesCuts<Message: ControlMessage>(_ message: Message) {
        let bytes = message.encoded
        for length in 0..<bytes.count {
            #expect(throws: ControlError.self) { try Message(decoding: bytes[..<length]) }
        }
        #expect(throws: ControlError.trailing) { try Message(decoding: (bytes + [0])[...]) }
    }

    @Test func `a frame without an end is refused before it is stored`() {
        var frames = ControlFrames<WorkerMessage>()
        [UInt8](repeating: 0xFF, count: 4).withUnsafeBytes { frames.append($0) }
        #expect(throws: ControlError.frameTooLong(0xFFFF_FFFF)) { try frames.next() }
    }

    @Test func `random bytes never trap`() {
        var random = SplitMix(seed: 7)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { index in
                UInt8.random(in: index == 0 ? 1...10 : 0...255, using: &random)
            }
            _ = try? WorkerMessage(decoding: bytes[...])
            _ = try? WorkerNotice(decoding: bytes[...])
            _ = try? IntakeMessage(decoding: bytes[...])
            _ = try? IntakeNotice(decoding: bytes[...])
        }
    }

    private static func passed<Message: ControlMessage>(_ message: Message) throws -> Message? {
        var frames = ControlFrames<Message>()
        for byte in message.frame.dropLast() {
            withUnsafeBytes(of: byte) { frames.append($0) }
            guard try frames.next() == nil else { return nil }
        }
        withUnsafeBytes(of: message.frame.last!) { frames.append($0) }
        return try frames.next()
    }
}
