import APNs
import PushModel
import Testing

@testable import Gateway

struct StalledExchangeTests {
    /// The gateway sends PINGs but reads nothing. So the connection looks alive, but the exchange cannot write its stream
    /// resets.
    @Test func `a connection to a gateway that reads nothing ends with its pushes`() {
        var now = ContinuousClock.now
        let exchange = PushExchange<APNsService>(
            StreamSettings(
                authority: "localhost", providerToken: nil, generation: 1, requestTimeout: .seconds(1)),
            at: now)
        func receive(_ frame: [UInt8]) { frame.withUnsafeBytes { exchange.receive($0, at: now) } }
        let (settings, ping): ([UInt8], [UInt8]) = (
            [0, 0, 0, 4, 0, 0, 0, 0, 0], [0, 0, 8, 6, 0, 0, 0, 0, 0] + [UInt8](repeating: 7, count: 8)
        )
        receive(settings)
        let head = PushHead(PushOptions(), appTopic: "com.example.demo")
        let job = PushID.Job(id: "job")
        for position in 0..<5 as Range<UInt32> {
            let token = [UInt8](repeating: UInt8(position), count: 32)
            let isTaken = token.withUnsafeBytes { token in
                Array("{}".utf8).withUnsafeBytes { payload in
                    exchange.send(
                        head, token: token, id: job.pushID(token: token), payload: payload,
                        ticket: PushTicket(batch: 1, position: position), at: now)
                }
            }
            #expect(isTaken)
        }
        // Stands for the buffers of the two sockets. The exchange fills this space once, and then cannot write any more
        // bytes.
        var space = [UInt8](repeating: 0, count: 65_536)
        #expect(space.withUnsafeMutableBytes { exchange.fill($0) } > 0)
        exchange.didFill()
        var (settled, isOver) = (0, false)
        for _ in 0..<20 where !isOver {
            now += PushExchange<APNsService>.tickInterval
            receive(ping)
            exchange.poll(at: now)
            while let event = exchange.nextEvent() {
                if case .completed = event { settled += 1 }
                if case .isOver = event { isOver = true }
            }
        }
        #expect(settled == 5 && isOver && exchange.streams.open == 5)
    }
}
