import Chaos
import Foundation
import LoopTesting
import Testing

/// Checks that a chaos run can fail. A run that cannot fail proves nothing.
@Suite(.timeLimit(.minutes(5))) struct FailingRunTests {
    @Test func `a chaos run finds a lost batch and a forged number`() async throws {
        let outcome = try await onLoop {
            let keep = FileManager.default.temporaryDirectory.path + "/pf-sabotage"
            defer { try? FileManager.default.removeItem(atPath: keep) }
            return await ChaosRun(seed: 1, scale: .short, keep: keep).play(.sabotage)
        }
        #expect(!outcome.isGood && outcome.verdict.lost > 0)
        #expect(outcome.complaints.contains { $0.hasPrefix("lost: token") && $0.contains("job stolen") })
        #expect(outcome.complaints.contains { $0.hasPrefix("accounting: job stolen is not finished") })
        #expect(outcome.complaints.contains { $0.hasPrefix("accounting: {pushfarm:demo}:batches") })
        #expect(outcome.complaints.contains { $0.contains("job forged") })
        #expect(outcome.folder != nil)
    }

    @Test func `a chaos run finds the pushes that a campaign repeats`() async throws {
        let outcome = try await onLoop {
            let keep = FileManager.default.temporaryDirectory.path + "/pf-campaign-sabotage"
            defer { try? FileManager.default.removeItem(atPath: keep) }
            return await ChaosRun(seed: 1, scale: .short, keep: keep).play(.campaignSabotage)
        }
        #expect(outcome.verdict.duplicates > 100 && outcome.verdict.lost == 0)
        let repeated = " of campaign forgetful, whose job record allows 0"
        #expect(outcome.complaints.contains { $0.hasPrefix("duplicated: ") && $0.hasSuffix(repeated) })
        #expect(outcome.complaints.contains { $0.hasPrefix("accounting: campaign forgetful has accepted") })
    }

    @Test func `a chaos run finds that the history of devices was removed`() async throws {
        let outcome = try await onLoop {
            let keep = FileManager.default.temporaryDirectory.path + "/pf-history-sabotage"
            defer { try? FileManager.default.removeItem(atPath: keep) }
            return await ChaosRun(seed: 1, scale: .short, keep: keep).play(.historySabotage)
        }
        #expect(!outcome.complaints.contains { $0.contains("no keys of") }, "\(outcome.complaints)")
        for part in [
            "got 2 pushes of category news, whose cap is 1", "got the variants a and b of campaign learn",
            "accounting: campaign learn has pulls:",
            "accounting: campaign learn has rewarded 200 instead of 100",
            "accounting: merge group group has 300 pushes in its slots, and 600 in its records",
            "campaign learn: the record counts",
        ] {
            #expect(outcome.complaints.contains { $0.contains(part) }, "\(part): \(outcome.complaints)")
        }
    }
}
