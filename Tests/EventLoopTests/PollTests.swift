import EventLoop
import Foundation
import LoopTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct PollTests {
    /// Creates two connected, nonblocking descriptors.
    private static func pair() -> (Int32, Int32) {
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }
        return (ends[0], ends[1])
    }

    @Loop private final class PollRecorder {
        var polls: [Poll] = []
    }

    @Test func `reports readable when data is there and writable when there is room`() async throws {
        try await onLoop { () async throws -> Void in
            let (ours, theirs) = Self.pair()
            let mailbox = Mailbox<Poll.Interest>()
            let poll = Poll(ours) { mailbox.put($0) }
            poll.watch(.writable)
            #expect(try await mailbox.next() == .writable)
            poll.watch(.readable)
            _ = write(theirs, "x", 1)
            let first = mailbox.all.count
            try await mailbox.wait(until: first + 1)
            #expect(mailbox.all.last == .readable)
            poll.cancel()
            for end in [ours, theirs] { close(end) }
        }
    }

    @Test func `reports every event when the peer has closed`() async throws {
        try await onLoop { () async throws -> Void in
            let (ours, theirs) = Self.pair()
            let mailbox = Mailbox<Poll.Interest>()
            let poll = Poll(ours) { [unowned mailbox] ready in mailbox.put(ready) }
            poll.watch([.readable, .writable])
            _ = write(ours, "unread", 6)
            close(theirs)
            #expect(await until { mailbox.all.last?.contains(.readable) == true })
            poll.cancel()
            close(ours)
        }
    }

    @Test func `no event arrives after the cancellation even if it is ready in the same turn`() async throws {
        try await onLoop { () async throws -> Void in
            let mailbox = Mailbox<Int>()
            let pairs = (0..<2).map { _ in Self.pair() }
            let watches = PollRecorder()
            for (index, pair) in pairs.enumerated() {
                watches.polls.append(
                    Poll(pair.0) { _ in
                        mailbox.put(index)
                        for poll in watches.polls { poll.cancel() }
                        watches.polls = []
                    })
            }
            for pair in pairs { _ = write(pair.1, "x", 1) }
            for poll in watches.polls { poll.watch(.readable) }
            _ = try await mailbox.next()
            try await Loop.sleep(for: .milliseconds(2))
            #expect(mailbox.all.count == 1)
            for pair in pairs {
                close(pair.0)
                close(pair.1)
            }
        }
    }

    @Test func `a descriptor number can be watched again right after the cancellation`() async throws {
        try await onLoop { () async throws -> Void in
            let old = Self.pair()
            let mailbox = Mailbox<String>()
            let first = Poll(old.0) { _ in mailbox.put("old") }
            first.watch([.readable, .writable])
            first.cancel()
            let new = Self.pair()
            #expect(dup2(new.0, old.0) == old.0)
            let second = Poll(old.0) { _ in mailbox.put("new") }
            second.watch(.readable)
            _ = write(old.1, "x", 1)
            _ = write(new.1, "x", 1)
            #expect(try await mailbox.next() == "new")
            second.cancel()
            for end in [old.0, old.1, new.0, new.1] { close(end) }
        }
    }

    @Test func `a released watch is cancelled`() async throws {
        try await onLoop { () async throws -> Void in
            let (ours, theirs) = Self.pair()
            let mailbox = Mailbox<String>()
            var released: Poll? = Poll(ours) { _ in mailbox.put("released") }
            released?.watch(.readable)
            _ = write(theirs, "x", 1)
            released = nil
            let second = Poll(ours) { _ in mailbox.put("second") }
            second.watch(.readable)
            #expect(try await mailbox.next() == "second")
            #expect(!mailbox.all.contains("released"))
            second.cancel()
            for end in [ours, theirs] { close(end) }
        }
    }

    @Test func `a watch without interest reports nothing`() async throws {
        try await onLoop { () async throws -> Void in
            let (ours, theirs) = Self.pair()
            let mailbox = Mailbox<Int>()
            let poll = Poll(ours) { _ in mailbox.put(1) }
            poll.watch(.readable)
            poll.watch([])
            _ = write(theirs, "x", 1)
            try await Loop.sleep(for: .milliseconds(2))
            #expect(mailbox.all.isEmpty)
            poll.watch(.readable)
            _ = try await mailbox.next()
            poll.cancel()
            for end in [ours, theirs] { close(end) }
        }
    }
}
