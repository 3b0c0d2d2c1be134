import Testing

@testable import Gateway

/// Checks, in virtual time, that a list with bad tokens is sent within the documented time: 100,000 pushes, 1,000 of them bad,
/// two workers with 28 connections each. The model has one worker with half of the list.
@Suite struct PoolModelTests {
    private func simulate(_ change: (inout PoolModel.Setting) -> Void, seed: UInt64) -> PoolModel {
        var setting = PoolModel.Setting()
        change(&setting)
        var model = PoolModel(setting, seed: seed)
        model.run()
        #expect(model.delivered + model.refused == setting.pushes)
        #expect(model.mostOpen <= setting.connections && model.mostDialling <= setting.connections)
        #expect(model.surplus <= model.dials / 20, "\(model.surplus) of \(model.dials) dials are for nothing")
        return model
    }

    struct Delay: Sendable, CustomTestStringConvertible {
        let reply: ClosedRange<Int>
        let bar: Double
        var testDescription: String { "replies after \(reply) ms" }
    }

    @Test(
        arguments: [
            Delay(reply: 50...100, bar: 10), Delay(reply: 300...700, bar: 20),
            Delay(reply: 1_000...2_000, bar: 60),
        ], 0..<3 as Range<UInt64>)
    func `a backlog uses all connections whatever the reply time`(delay: Delay, seed: UInt64) {
        let model = simulate({ $0.reply = delay.reply }, seed: seed)
        #expect(model.seconds <= delay.bar, "\(model.seconds) s")
        if delay.reply.upperBound >= 300 { #expect(model.mostOpen == 28) }
    }

    struct Dialling: Sendable, CustomTestStringConvertible {
        let dial: Int
        let reply: ClosedRange<Int>
        var testDescription: String { "dials of \(dial) ms, replies after \(reply) ms" }
    }

    @Test(
        arguments: [
            Dialling(dial: 3_000, reply: 300...700), Dialling(dial: 3_000, reply: 50...100),
            Dialling(dial: 1_000, reply: 300...700), Dialling(dial: 1_000, reply: 50...100),
        ], 0..<3 as Range<UInt64>)
    func `slow dials run in parallel on all connections`(dialling: Dialling, seed: UInt64) {
        let model = simulate({ ($0.dial, $0.reply) = (dialling.dial, dialling.reply) }, seed: seed)
        // The shortest possible time in seconds: 28 connections dial in parallel, so it is the duration of all dials divided
        // by 28.
        let least = Double(model.dials) * Double(dialling.dial) / 1_000 / 28
        #expect(model.seconds <= 1.3 * least, "\(model.seconds) s, \(model.dials) dials in \(least) s")
        #expect(model.mostDialling == 28)
    }

    @Test func `good tokens need few connections and no repeated dial`() {
        let model = simulate({ $0.badEvery = 1_000_000_000 }, seed: 1)
        #expect(model.dials <= 28 && model.dials == model.mostOpen)
    }

    @Test func `dials per minute are bounded and the list finishes`() {
        let model = simulate({ ($0.dialsPerMinute, $0.pushes) = (60, 20_000) }, seed: 1)
        #expect(Double(model.dials) <= 60 * (model.seconds / 60 + 1))
    }
}
