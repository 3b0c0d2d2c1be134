import Chaos
import Foundation
import LoopTesting
import Testing

/// Runs each chaos scenario once with a short duration, on farms of real processes, several at a time.
@Suite(.timeLimit(.minutes(10))) struct ShortChaosRunTests {
    private static let seed: UInt64 = 7
    @Test(arguments: Scenario.all) func `no push is lost, and the accounting is exact`(scenario: Scenario)
        async throws
    {
        await Places.shared.enter()
        let outcome = try await onLoop {
            let keep = FileManager.default.currentDirectoryPath + "/.build/chaos"
            return await ChaosRun(seed: Self.seed, scale: .short, keep: keep).play(scenario)
        }
        await Places.shared.leave()
        print(outcome.line)
        for complaint in outcome.complaints {
            Issue.record("\(scenario.number) \(scenario.name): \(complaint)")
        }
    }
}

extension Scenario: CustomTestStringConvertible {
    public var testDescription: String { "\(number) \(name)" }
}

/// Limits the number of farms that run at a time.
private actor Places {
    static let shared = Places()
    private var free = 3
    private var queue: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { queue.append($0) }
        }
    }

    func leave() {
        if queue.isEmpty { free += 1 } else { queue.removeFirst().resume() }
    }
}
