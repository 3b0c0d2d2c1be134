import Foundation
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Layer A of the proof: the guarantees that every script gives (docs/internals/proof.md).
@Suite struct ScriptContractTests {
    @Test(arguments: Script.allCases) func `every script has a case`(script: Script) {
        #expect(ScriptCase.all.contains { $0.script == script }, "no case of \(script): see ScriptCase.all")
    }

    @Test(arguments: ScriptCase.all) func `a repeat, a lost reply and missing memory give the same effects`(
        scriptCase: ScriptCase
    ) throws {
        let redis = try PrivateRedis()
        let once = try scriptCase.run(.once, on: redis)
        if case .refused(let error) = scriptCase.again {
            #expect(once.reply == error && once.after == once.before)
        } else {
            #expect(!once.reply.hasPrefix("error"), "\(once.reply)")
        }
        if scriptCase.script.isReadOnly { #expect(once.after == once.before) }
        for way in [ScriptCase.Way.twice, .replyLost, .withoutMemory] {
            let other = try scriptCase.run(way, on: redis)
            #expect(other.before == once.before, "the situation is not the same each time")
            guard way == .withoutMemory || !scriptCase.again.changesMore else { continue }
            #expect(other.after.changes(since: once.after) == [], "\(way)")
            if way == .withoutMemory {
                #expect(other.reply == once.reply && other.woken == once.woken, "\(way)")
            } else {
                #expect(scriptCase.again.allows(other.reply, after: once.reply), "\(way): \(other.reply)")
            }
        }
    }

    /// The effects were recorded from the scripts, and reviewed against the contracts in the scripts' headers.
    /// `PUSHFARM_RECORD=1` records the effects again.
    @Test(arguments: ScriptCase.all) func `a case has exactly the effects in effects.txt`(
        scriptCase: ScriptCase
    ) throws {
        let expected = try Effects.written()[scriptCase.testDescription, default: []]
        for change in try Effects.lines(of: scriptCase, on: PrivateRedis()).difference(from: expected) {
            switch change {
            case .insert(_, let line, _): Issue.record("new: \(line)")
            case .remove(_, let line, _): Issue.record("missing: \(line)")
            }
        }
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["PUSHFARM_RECORD"] != nil))
    func `writes effects.txt`() throws { try Effects.record(ScriptCase.all) }

    @Test(arguments: Mutant.unseen) func `a fault that keeps the accounting exact is noticed`(mutant: Mutant)
        throws
    {
        let written = try Effects.written()
        let redis = try PrivateRedis()
        redis.variant.mutant = mutant
        let isNoticed = try ScriptCase.all.contains { scriptCase in
            guard scriptCase.script == mutant.script else { return false }
            let once = try scriptCase.run(.once, on: redis)
            if Effects.lines(of: once) != written[scriptCase.testDescription] { return true }
            return try scriptCase.run(.twice, on: redis).after != once.after
        }
        #expect(isNoticed, "\(mutant) went unnoticed")
    }
}
