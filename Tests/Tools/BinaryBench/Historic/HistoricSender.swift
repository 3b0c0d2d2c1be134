import APNs
import BinaryProtocol
import Foundation
import OpenSSL

/// A historic sender in its own process: one connection at a time, one write for each push, command 1.
package struct HistoricSender {
    /// The sender's task, encoded as one word of its command line.
    package struct Order: Codable, Sendable {
        var tokens: ExperimentTokens
        /// The number of pushes to send from the start of the list.
        var length: Int
        var habit: ReadingHabit
        var number: Int
        var senders: Int
        var port: UInt16
        var authorityFile: String
        var identityFile: String
    }

    /// The result as the sender counts it.
    package struct Claim: Codable, Sendable, Hashable {
        package var sent = 0
        package var refused = 0
        package var seconds = 0.0
    }

    private let order: Order
    private let context: TLSContext
    private let tokenIndices: [Int]
    private let payload = Payload.bytes
    /// The planned time of the latest write.
    private var due = ContinuousClock.now

    package init(order text: String) throws {
        order = try JSONDecoder().decode(Order.self, from: Data(text.utf8))
        context = try TLSContext(
            client: ClientSettings(
                trust: .authorityFile(order.authorityFile), identity: TLSIdentity(file: order.identityFile)))
        tokenIndices = order.tokens.indices(among: order.length, of: order.number, senders: order.senders)
    }

    package mutating func run() throws -> Claim {
        let start = ContinuousClock.now
        var course = HistoricCourse(count: tokenIndices.count, habit: order.habit)
        var wire: HistoricWire?
        while true {
            switch course.next() {
            case .connect: wire = try HistoricWire(port: order.port, context: context)
            case .write(let index):
                keepPace()
                if let open = wire, !open.write(frame(index)) { course.failed() }
            case .readReplies(let timeout):
                if let open = wire { judge(open.readReplies(within: timeout), &course) }
            case .done:
                return Claim(
                    sent: course.sent, refused: course.refused,
                    seconds: (ContinuousClock.now - start).seconds)
            }
        }
    }

    private func judge(_ sight: HistoricWire.Observation, _ course: inout HistoricCourse) {
        switch sight {
        case .nothing: break
        case .closed: course.lost()
        case .reply(let reply):
            let index = Int(reply.identifier) - 1
            guard tokenIndices.indices.contains(index) else { return course.lost() }
            if reply.status == .shutdown { course.accepted(upTo: index) } else { course.refused(index) }
        }
    }

    private mutating func keepPace() {
        let now = ContinuousClock.now
        // After a delay, the sender does not write faster to make up for the lost time.
        due = max(due, now - .milliseconds(5)) + .seconds(1) / ReadingHabit.pace
        if due > now { usleep(UInt32((due - now) / .microseconds(1))) }
    }

    private func frame(_ index: Int) -> [UInt8] {
        let token = order.tokens.token(tokenIndices[index])
        return token.withUnsafeBytes { token in
            payload.withUnsafeBytes { payload in
                let notification = BinaryNotification(
                    token: token, payload: payload, identifier: UInt32(index + 1))
                return [UInt8](unsafeUninitializedCapacity: notification.length(as: .enhanced)) {
                    space, count in
                    count = notification.write(as: .enhanced, to: UnsafeMutableRawBufferPointer(space))
                }
            }
        }
    }
}
