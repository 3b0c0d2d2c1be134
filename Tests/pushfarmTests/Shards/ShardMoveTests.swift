import Testing

@testable import pushfarm

@Suite struct ShardMoveTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var to: String?
        var owner: String?
        var mark = Mark.none
        var isDone: Bool
        var text: String

        enum Mark { case none, dryRun, underWay }

        var testDescription: String { "to \(to ?? "auto"), with \(owner ?? "nobody"), \(mark)" }
    }

    @Test(arguments: [
        Case(to: "beta", owner: "beta", isDone: true, text: "with beta"),
        Case(to: "beta", owner: "alpha", isDone: false, text: "with alpha"),
        Case(to: "beta", owner: nil, isDone: false, text: "with no host"),
        Case(
            to: nil, owner: "alpha", isDone: true,
            text: "with alpha now; the farm chooses its owner"),
        Case(
            to: nil, owner: nil, isDone: false, text: "with no host now; the farm chooses its owner"
        ),
        // A command that does not wait reports a move in progress and succeeds.
        Case(to: "beta", owner: "beta", mark: .underWay, isDone: true, text: "with beta"),
        Case(
            to: "beta", owner: "alpha", mark: .underWay, isDone: true,
            text: "with alpha now, and moves to beta"),
        Case(
            to: "beta", owner: nil, mark: .underWay, isDone: true, text: "with no host now, and moves to beta"
        ),
        Case(
            to: nil, owner: nil, mark: .underWay, isDone: true,
            text: "with no host now; the farm chooses its owner"),
        Case(to: "beta", owner: "alpha", mark: .dryRun, isDone: true, text: "with alpha\nwould go to beta"),
        Case(
            to: nil, owner: "alpha", mark: .dryRun, isDone: true,
            text: "with alpha\nwould go to the host that the farm chooses"),
    ]) func `a move reports the place of the shard and its success`(_ row: Case) {
        let move = ShardMove(shard: 7, host: row.to, apps: nil)
        let outcome = ShardMove.Outcome(
            move: move, owners: [("demo", row.owner)], isDryRun: row.mark == .dryRun,
            isUnderWay: row.mark == .underWay)
        #expect(outcome.isDone == row.isDone)
        #expect(outcome.text == "shard 7 of demo is " + row.text)
    }
}
