import ControlChannel
import EventLoop
import FarmHarness
import Foundation
import Logging
import LoopTesting
import PushModel
import RedisClient
import RedisProtocol
import StoreProtocol
import Testing

@testable import Worker

@Suite(.timeLimit(.minutes(5))) struct FeedbackReadingTests {
    /// Tuples that a worker has read from the feedback service but not written to Redis are lost with the worker.
    @Test func `a worker reads little from the service while Redis accepts nothing`()
        async throws
    {
        try await SenderFixture.run { farm in
            let service = try FastFeedbackService()
            let request = FeedbackRequest(
                app: "demo", host: "127.0.0.1", port: service.port, reading: "r1",
                shards: SenderFixture.shards, limit: 1_000_000)
            let store = farm.sender.store
            let reading = FeedbackReading(
                request, scope: SuppressionScope(environment: "here", topic: "com.example.demo"),
                store: store,
                known: SuppressionLists(store, life: 86_400, log: Logger(label: "test")),
                ended: { _, _ in })
            reading.start(nil, proxy: nil)
            // The worker first reads a megabyte, because the system gives larger buffers to a socket that is read fast.
            #expect(
                await until {
                    service.serve()
                    return service.taken - service.unacknowledged > 1 << 20
                })
            let redis = try BlockingRedisClient(farm.server.socket)
            try redis.run("CLIENT", "PAUSE", "60000", "WRITE")
            var (rounds, last) = (0, 0)
            #expect(
                await until {
                    service.serve()
                    rounds = service.taken == last ? rounds + 1 : 0
                    last = service.taken
                    return rounds == 500
                })
            let stored = Int(try redis.run("XLEN", "{pushfarm:demo}:events").integer ?? 0)
            #expect(stored > 10_000)
            let atRisk = service.taken - service.unacknowledged - stored * FastFeedbackService.tupleSize
            #expect(atRisk > 0 && atRisk < 128 << 10, "\(atRisk) bytes")
            try redis.run("CLIENT", "UNPAUSE")
        }
    }

    /// Writes generated tuples to every client, as many as the socket accepts.
    @Loop private final class FastFeedbackService {
        static let tupleSize = 38
        let port: UInt16
        private(set) var taken = 0
        private let listener: Int32
        private var client: Int32 = -1
        private var pending: [UInt8] = []
        private var number: UInt32 = 0

        init() throws {
            listener = socket(
                AF_INET,
                Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let listener = listener
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, length) == 0 && listen(listener, 1) == 0
                        && getsockname(listener, $0, &length) == 0
                }
            }
            try #require(isBound)
            port = UInt16(bigEndian: address.sin_port)
        }

        /// The bytes that the socket accepted and the peer has not acknowledged.
        var unacknowledged: Int {
            var count: Int32 = 0
            return ioctl(client, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
        }

        isolated deinit {
            if client >= 0 { close(client) }
            close(listener)
        }

        func serve() {
            if client < 0 { client = accept(listener, nil, nil) }
            guard client >= 0 else { return }
            while true {
                if pending.isEmpty { for _ in 0..<100 { append() } }
                let count = send(client, pending, pending.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                guard count > 0 else { return }
                taken += count
                pending.removeFirst(count)
            }
        }

        private func append() {
            number += 1
            pending.append(contentsOf: [0x65, 0x53, 0xF1, 0x00, 0, 32])
            pending.append(contentsOf: [UInt8](repeating: 7, count: 28))
            pending.append(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
        }
    }
}
