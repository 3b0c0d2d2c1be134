import APNs
import BinaryProtocol
import PushModel
import Testing

@testable import Simulator

@Suite struct BinaryConnectionStateTests {
    private var random = SeededRandom(seed: 3)

    @Test mutating func `only the first refused frame gets a reply, and later frames are discarded`() {
        var course = BinaryConnectionState(random: &random)
        #expect(take(&course, 11) == .accepted)
        #expect(take(&course, 12, .refused(.invalidToken)) == .refused(.invalidToken, isLost: false))
        let culprit = BinaryConnectionState.FramePosition(number: 2, identifier: 12)
        #expect(take(&course, 13) == .discarded(after: culprit))
        #expect(take(&course, 14, .refused(.missingPayload)) == .discarded(after: culprit))
        #expect(course.end?.reply == BinaryReply(status: .invalidToken, identifier: 12))
        #expect(course.end?.position == culprit)
        #expect(course.last.number == 4)
    }

    @Test mutating func `command 0 gets no reply`() {
        var course = BinaryConnectionState(random: &random)
        #expect(
            take(&course, 0, .refused(.invalidToken), of: .simple) == .refused(.invalidToken, isLost: false))
        #expect(course.end != nil && course.end?.reply == nil)
    }

    @Test(arguments: [false, true]) mutating func `a reply may name an empty token`(isNamed: Bool) {
        var faults = BinaryFaults()
        faults.namesEmptyTokens = isNamed
        var course = BinaryConnectionState(random: &random)
        _ = take(&course, 9, .refused(.missingDeviceToken), faults: faults)
        #expect(course.end?.reply == BinaryReply(status: .missingDeviceToken, identifier: isNamed ? 9 : 0))
    }

    @Test(arguments: [false, true]) mutating func `an unknown command gets a reply or a close`(closes: Bool) {
        var faults = BinaryFaults()
        faults.closesAtUnknownCommand = closes
        var course = BinaryConnectionState(random: &random)
        let outcome = course.takeUnknownCommand(faults: faults, random: &random)
        #expect(outcome == .refused(.protocolError, isLost: false))
        #expect(course.end?.reply == (closes ? nil : BinaryReply(status: .protocolError, identifier: 0)))
    }

    @Test mutating func `the reply of a shutdown names the last accepted push`() {
        var faults = BinaryFaults()
        faults.shutdown = BinaryFaults.Ending(every: 3, share: 1)
        var course = BinaryConnectionState(random: &random)
        for id: UInt32 in [5, 6, 7] { #expect(take(&course, id, faults: faults) == .accepted) }
        #expect(
            take(&course, 8, faults: faults)
                == .discarded(after: BinaryConnectionState.FramePosition(number: 3, identifier: 7)))
        #expect(course.end?.reply == BinaryReply(status: .shutdown, identifier: 7))
        var idle = BinaryConnectionState(random: &random)
        idle.shutDown(faults: faults, random: &random)
        #expect(idle.end?.reply == BinaryReply(status: .shutdown, identifier: 0))
        var simple = BinaryConnectionState(random: &random)
        _ = take(&simple, 0, of: .simple)
        simple.shutDown(faults: faults, random: &random)
        #expect(simple.end?.cause == .shutdown && simple.end?.reply == nil)
    }

    @Test mutating func `a configured share of the connections is closed without a reply`() {
        var faults = BinaryFaults()
        faults.closing = BinaryFaults.Ending(every: 2, share: 0.3, isReset: true)
        var closed = 0
        for _ in 0..<1000 {
            var course = BinaryConnectionState(random: &random)
            for id: UInt32 in 1...20 { _ = take(&course, id, faults: faults) }
            guard let end = course.end else { continue }
            closed += 1
            #expect(end.position.number == 2 && end.cause == .none && end.reply == nil && end.isReset)
        }
        #expect((200...400).contains(closed))
    }

    @Test mutating func `the first end of a connection is not replaced by a later one`() {
        var course = BinaryConnectionState(random: &random)
        _ = take(&course, 1, .refused(.invalidToken))
        let end = course.end
        course.shutDown(faults: BinaryFaults(), random: &random)
        course.close(BinaryFaults.Ending(every: 0, share: 1), random: &random)
        #expect(course.end == end)
    }

    @Test mutating func `replies come after the usual delay, and closes within a second`() {
        var delays: [Double] = []
        for _ in 0..<1000 {
            var course = BinaryConnectionState(random: &random)
            _ = take(&course, 1, .refused(.invalidToken))
            let end = course.end!
            delays.append(end.replyDelay)
            #expect((300...700).contains(end.replyDelay) && end.replyDelay + end.closeDelay <= 1000)
        }
        #expect(delays.min()! < 320 && delays.max()! > 680)
    }

    @Test mutating func `a configured share of the replies is lost`() {
        var faults = BinaryFaults()
        faults.lostReplies = BinaryFaults.Loss(share: 0.5, isReset: true)
        var lost = 0
        for _ in 0..<1000 {
            var course = BinaryConnectionState(random: &random)
            let outcome = take(&course, 1, .refused(.invalidToken), faults: faults)
            guard outcome == .refused(.invalidToken, isLost: true) else { continue }
            lost += 1
            #expect(course.end?.reply == nil && course.end?.isReset == true)
        }
        #expect((400...600).contains(lost))
    }

    @Test mutating func `configured shares of the replies are cut or sent byte by byte`() {
        var faults = BinaryFaults()
        faults.cutReplies = BinaryFaults.Cut(share: 0.5, isReset: false)
        faults.trickledReplies = BinaryFaults.Trickle(share: 0.2, pause: .fixed(milliseconds: 5))
        var lengths: [Int: Int] = [:]
        var trickled = 0
        for _ in 0..<1000 {
            var course = BinaryConnectionState(random: &random)
            let outcome = take(&course, 1, .refused(.invalidToken), faults: faults)
            let end = course.end!
            lengths[end.replyLength, default: 0] += 1
            if end.pause != nil { trickled += 1 }
            #expect(outcome == .refused(.invalidToken, isLost: end.replyLength < 6))
            #expect(end.reply == BinaryReply(status: .invalidToken, identifier: 1))
        }
        #expect(lengths.keys.sorted() == [1, 2, 3, 4, 5, 6])
        #expect((400...600).contains(lengths[6]!) && (150...250).contains(trickled))
        // With command 0 the gateway closes without a reply, so the fault that cuts replies has no effect.
        faults.cutReplies?.share = 1
        var simple = BinaryConnectionState(random: &random)
        let outcome = take(&simple, 0, .refused(.invalidToken), of: .simple, faults: faults)
        #expect(outcome == .refused(.invalidToken, isLost: false) && simple.end?.isReplyCut == false)
    }

    private mutating func take(
        _ course: inout BinaryConnectionState, _ id: UInt32, _ verdict: BinaryJudge.Verdict = .accepted,
        of command: BinaryCommand = .framed, faults: BinaryFaults = BinaryFaults()
    ) -> BinaryConnectionState.Outcome {
        course.take(identifier: id, of: command, verdict, faults: faults, random: &random)
    }
}
