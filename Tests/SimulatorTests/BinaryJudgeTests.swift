import APNs
import BinaryProtocol
import Testing

@testable import Simulator

@Suite struct BinaryJudgeTests {
    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var token: [UInt8] = TestFrame.good
        var payload = 20
        var command = BinaryCommand.framed
        var hasTopic = true
        var verdict: BinaryJudge.Verdict
    }

    static let yesterday: Int64 = 1_700_000_000

    static let cases: [Case] = [
        Case(testDescription: "good", verdict: .accepted),
        Case(testDescription: "no token", token: [], verdict: .refused(.missingDeviceToken)),
        Case(testDescription: "no topic", hasTopic: false, verdict: .refused(.missingTopic)),
        Case(testDescription: "no payload", payload: 0, verdict: .refused(.missingPayload)),
        Case(
            testDescription: "short token", token: Array(TestFrame.good.prefix(31)),
            verdict: .refused(.invalidTokenSize)),
        Case(
            testDescription: "long token", token: TestFrame.good + [1], verdict: .refused(.invalidTokenSize)),
        Case(testDescription: "longest simple", payload: 256, command: .simple, verdict: .accepted),
        Case(
            testDescription: "too long for simple", payload: 257, command: .simple,
            verdict: .refused(.invalidPayloadSize)),
        Case(testDescription: "longest enhanced", payload: 256, command: .enhanced, verdict: .accepted),
        Case(
            testDescription: "too long for enhanced", payload: 257, command: .enhanced,
            verdict: .refused(.invalidPayloadSize)),
        Case(testDescription: "longest framed", payload: 2048, verdict: .accepted),
        Case(testDescription: "too long for framed", payload: 2049, verdict: .refused(.invalidPayloadSize)),
        Case(
            testDescription: "zeros", token: [UInt8](repeating: 0, count: 32),
            verdict: .refused(.invalidToken)),
        Case(
            testDescription: "nearly zeros", token: [UInt8](repeating: 0, count: 31) + [1], verdict: .accepted
        ),
        Case(testDescription: "bad", token: TestFrame.bad, verdict: .refused(.invalidToken)),
        Case(
            testDescription: "other topic", token: TestFrame.starting(0xbad1_0000),
            verdict: .refused(.invalidToken)),
        Case(
            testDescription: "other environment", token: TestFrame.starting(0xbad2_0000),
            verdict: .refused(.invalidToken)),
        Case(
            testDescription: "unregistered", token: TestFrame.starting(0xdead_0000),
            verdict: .undeliverable(since: yesterday * 1000)),
        Case(
            testDescription: "unregistered since", token: TestFrame.starting(0xdead_0001),
            verdict: .undeliverable(since: 0x1111_1111 * 1000)),
        Case(
            testDescription: "expired", token: TestFrame.starting(0xfade_0000),
            verdict: .undeliverable(since: yesterday * 1000)),
        Case(
            testDescription: "error", token: TestFrame.starting(0xe500_0000),
            verdict: .refused(.processingError)),
        Case(
            testDescription: "unavailable", token: TestFrame.starting(0xe503_0000),
            verdict: .refused(.processingError)),
        Case(testDescription: "throttled", token: TestFrame.starting(0xf100_d000), verdict: .accepted),
        Case(testDescription: "silent", token: TestFrame.starting(0x0ff0_0000), verdict: .accepted),
        // If several checks fail, the first of them decides the status.
        Case(
            testDescription: "no token, no topic, no payload", token: [], payload: 0, hasTopic: false,
            verdict: .refused(.missingDeviceToken)),
        Case(
            testDescription: "no topic, no payload", payload: 0, hasTopic: false,
            verdict: .refused(.missingTopic)),
        Case(
            testDescription: "no payload, short token", token: [1], payload: 0,
            verdict: .refused(.missingPayload)),
        Case(
            testDescription: "short token, long payload", token: [1], payload: 4000,
            verdict: .refused(.invalidTokenSize)),
        Case(
            testDescription: "long payload, bad token", token: TestFrame.bad, payload: 4000,
            verdict: .refused(.invalidPayloadSize)),
    ]

    @Test(arguments: cases) func `the first check that fails decides`(test: Case) {
        #expect(verdict(of: test) == test.verdict)
    }

    @Test func `token length and states of single tokens are configurable`() {
        var judge = BinaryJudge()
        judge.tokenLengths = [32, 5]
        var table = TokenTable(deadSince: 0)
        let token: [UInt8] = [0xbe, 0xef, 0xca, 0xfe, 1]
        #expect(
            verdict(of: Case(testDescription: "", token: token, verdict: .accepted), judge, table)
                == .accepted
        )
        table.set(TokenTable.bytes(of: "beefcafe01".utf8)!, TokenRule(word: "bad", since: 0))
        table.set(TokenTable.bytes(of: "beefcafe02".utf8)!, TokenRule(word: "unregistered", since: 7))
        #expect(
            verdict(of: Case(testDescription: "", token: token, verdict: .accepted), judge, table)
                == .refused(.invalidToken))
        #expect(
            verdict(
                of: Case(testDescription: "", token: token.dropLast() + [2], verdict: .accepted), judge, table
            )
                == .undeliverable(since: 7000))
        table.set(TokenTable.bytes(of: "BEEFCAFE01".utf8)!, nil)
        #expect(
            verdict(of: Case(testDescription: "", token: token, verdict: .accepted), judge, table)
                == .accepted
        )
    }

    private func verdict(
        of test: Case, _ judge: BinaryJudge = BinaryJudge(),
        _ table: TokenTable = TokenTable(deadSince: yesterday)
    ) -> BinaryJudge.Verdict {
        test.token.withUnsafeBytes { token in
            [UInt8](repeating: 0x20, count: test.payload).withUnsafeBytes { payload in
                judge.judge(
                    BinaryNotification(token: token, payload: payload, identifier: 1), as: test.command,
                    hasTopic: test.hasTopic, table: table)
            }
        }
    }
}
