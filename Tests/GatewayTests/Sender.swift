import APNs
import EventLoop
import LoopTesting
import PushModel

@testable import Gateway

/// Sends numbered pushes over a pool or a connection, repeats unprocessed pushes, and keeps the accounting:
/// every send must get exactly one outcome.
@Loop final class Sender: ConnectionPool.Owner, TurnListener {
    private(set) lazy var pool = ConnectionPool(owner: self)
    /// If set, the sender uses this connection instead of the pool.
    var connection: (any GatewayConnection)?
    /// For each send: the number of its push. The index of a send is the position in its ticket.
    private(set) var sends: [Int] = []
    private(set) var outcomes: [SendOutcome?] = []
    private(set) var settledTwice = 0
    /// The number of sends that a connection refused although it reported room.
    private(set) var refusedSends = 0
    private(set) var settledCount = 0
    /// The number of pushes that had wrongly counted as accepted when a refusal arrived.
    private(set) var lost = 0
    /// The maximum of pushes that were open at the same time.
    private(set) var mostOpen = 0
    private var backlog: [Int] = []
    private var waiter = Mailbox<Void>()
    private var isDue = false
    let spent = Mailbox<String>()
    private(set) var verdicts: [Verdict] = []
    let ended = Mailbox<String>()
    let dialFailures = Mailbox<(reason: String, refusedByPeer: Bool)>()
    let pausesEnded = Mailbox<Void>()
    let settledEvents = Mailbox<Void>()
    private let head: PushHead
    private let job = PushID.Job(id: "job")
    /// Returns the first bytes of a push's token. The last four bytes of the token are the push's number.
    var prefix: @Loop (Int) -> [UInt8] = { _ in [] }
    var onSettled: @Loop (Int, SendOutcome) -> Void = { _, _ in }
    /// Whether the sender sends pushes with an unknown outcome again, as it does with unprocessed pushes.
    var resendsUnknown = false
    var payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)

    init(topic: String = "com.example.demo") {
        head = PushHead(PushOptions(), appTopic: topic)
    }

    /// Adds pushes to the queue, and sends as many pushes as there is room for.
    func push(_ numbers: Range<Int>) {
        backlog.append(contentsOf: numbers.reversed())
        schedule()
    }

    /// Waits until every push is sent and has an outcome.
    func finish() async throws {
        while !(backlog.isEmpty && settledCount == sends.count) { try await waiter.next() }
    }

    /// Waits until `count` sends have an outcome.
    func settled(_ count: Int) async throws { try await settledEvents.wait(until: count) }

    /// The number of sends whose outcome matches.
    func count(_ matches: (SendOutcome) -> Bool) -> Int { outcomes.count { $0.map(matches) ?? false } }
    var delivered: Int { count { if case .delivered = $0 { true } else { false } } }
    var deliveredPushes: Set<Int> {
        Set(zip(sends, outcomes).compactMap { if case .delivered? = $1 { $0 } else { nil } })
    }
    var unknown: Int { count { if case .unknown = $0 { true } else { false } } }
    var unknownCauses: Set<String> {
        Set(outcomes.compactMap { if case .unknown(let cause)? = $0 { cause } else { nil } })
    }
    var unprocessed: Int { count { if case .unprocessed = $0 { true } else { false } } }
    var refusals: [Rejection] {
        outcomes.compactMap { if case .rejected(let refusal)? = $0 { refusal } else { nil } }
    }
    /// Whether each send has exactly one outcome.
    var isBalanced: Bool { settledTwice == 0 && settledCount == sends.count && refusedSends == 0 }

    func loopTurnEnded() {
        isDue = false
        while let number = backlog.last, let connection = connection ?? pool.roomiest, connection.room > 0 {
            guard send(number, over: connection) else {
                refusedSends += 1
                return
            }
            backlog.removeLast()
            mostOpen = max(mostOpen, self.connection?.openStreams ?? pool.openStreams)
        }
        if !backlog.isEmpty, connection == nil { pool.needConnection() }
    }

    private func send(_ number: Int, over connection: any GatewayConnection) -> Bool {
        let start = prefix(number)
        let token =
            start + [UInt8](repeating: 0xA7, count: 28 - start.count)
            + withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
        let ticket = PushTicket(batch: 1, position: UInt32(sends.count))
        let isTaken = token.withUnsafeBytes { token in
            payload.withUnsafeBytes { payload in
                connection.send(
                    head, token: token, id: job.pushID(token: token), payload: payload, ticket: ticket,
                    at: .now)
            }
        }
        guard isTaken else { return false }
        sends.append(number)
        outcomes.append(nil)
        return true
    }

    private func schedule() {
        guard !isDue else { return }
        isDue = true
        Loop.atEndOfTurn(self)
    }

    func completed(_ ticket: PushTicket, _ outcome: SendOutcome) {
        let index = Int(ticket.position)
        guard outcomes[index] == nil else {
            settledTwice += 1
            return
        }
        outcomes[index] = outcome
        settledCount += 1
        if case .unprocessed = outcome { backlog.append(sends[index]) }
        if resendsUnknown, case .unknown = outcome { backlog.append(sends[index]) }
        onSettled(sends[index], outcome)
        settledEvents.put(())
        waiter.put(())
        schedule()
    }

    func roomAvailable(on connection: any GatewayConnection) { schedule() }

    func retired(_ connection: any GatewayConnection, reason: String, verdict: Verdict) {
        spent.put(reason)
        verdicts.append(verdict)
        pool.connectionRetired(connection)
        schedule()
    }

    func deliveredPushesLost(on connection: any GatewayConnection, count: Int, reason: String) {
        lost += count
    }

    func ended(_ connection: any GatewayConnection, reason: String) {
        pool.remove(connection, reason: reason)
        ended.put(reason)
        schedule()
    }

    func dialFailed(_ reason: String, refusedByPeer: Bool) {
        dialFailures.put((reason, refusedByPeer))
    }

    func dialPauseEnded() {
        pausesEnded.put(())
        schedule()
    }
}
