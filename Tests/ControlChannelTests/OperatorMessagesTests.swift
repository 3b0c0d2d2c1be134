import ControlChannel
import PushModel
import Testing

struct OperatorMessagesTests {
    private func through<Message: ControlMessage>(_ message: Message) throws -> Message? {
        var frames = ControlFrames<Message>()
        message.frame.withUnsafeBytes { frames.append($0) }
        return try frames.next()
    }

    @Test func `commands and replies arrive unchanged`() throws {
        let command = OperatorCommand(
            id: "i", issuer: "me@here", host: nil, verb: "scale", arguments: ["+1", "--force", ""],
            isDryRun: true)
        #expect(try through(command) == command)
        var other = command
        (other.host, other.arguments, other.isDryRun) = ("beta", [], false)
        #expect(try through(other) == other)
        #expect(other.text == "scale --host beta" && command.text == "scale +1 --force  --dry-run")
        for state in OperatorReply.State.allCases {
            let reply = OperatorReply(host: "beta", state: state, text: "two\nlines")
            #expect(try through(reply) == reply)
            #expect(reply.isLast == [.done, .refused, .failed].contains(state))
        }
    }

    @Test func `messages between a coordinator and its successor arrive unchanged`() throws {
        for message in [SuccessorMessage.hostClaim(nonce: "n"), .abort] {
            #expect(try through(message) == message)
        }
        for notice in [SuccessorNotice.ready, .nameClaimed] { #expect(try through(notice) == notice) }
    }

    @Test func `an unknown kind of message is an error`() {
        var frames = ControlFrames<OperatorCommand>()
        ([0, 0, 0, 1, 9] as [UInt8]).withUnsafeBytes { frames.append($0) }
        #expect(throws: ControlError.self) { try frames.next() }
    }
}
